// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/tokens/promptlayout.h"

#include <QJsonArray>
#include <QJsonObject>
#include <QStringList>

namespace kerf {

/// One of two prompts: what was asked for, and how the server's own template and tokenizer made it tokens.
struct DiffSide {
    QJsonArray messages; ///< OpenAI chat messages; may be empty where only the prompt is known
    QJsonArray tools;
    QJsonObject templateOptions; ///< chat_template_kwargs
    PromptLayout layout;
    QList<QByteArray> pieces; ///< bytes of each token; empty = not known, then causes in the text are not looked for
};

/// Why a prompt stopped matching (LLAMA_SERVER.md section 4: what breaks reuse in the field).
enum class DiffCause {
    Same, ///< nothing differs
    Extends, ///< the second only goes on where the first ended: nothing is lost
    Shortened, ///< the second is a prefix of the first
    Timestamp,
    Counter,
    Uuid,
    BillingLine, ///< a line that a harness adds with a value of its own for each request
    ToolList,
    TemplateOptions,
    MovedBlock, ///< the same text stands in another message now
    MemoryInjected, ///< text or a message was put in front of the history
    MessagesInserted, ///< ... in the middle of it
    MessagesRemoved, ///< messages went, and what was behind them follows at once
    OtherConversation, ///< another system prompt: a title, a summary, a sub-agent on the same server
    HistoryReplaced, ///< compaction: other and fewer messages from there on
    Thinking, ///< thoughts were stripped or rendered otherwise
    TokenizerSeam, ///< the same bytes, other token ids
    GenerationPrompt, ///< what the template adds for the answer is not in the history as it is sent
    MessageEdited, ///< the text of one message is another
    RoleChanged,
    Other
};
QString diffCauseName(DiffCause cause); ///< wire name: "timestamp", "tool-list", ...

struct PromptDiff {
    int lcp = 0; ///< tokens that are equal; also the index of the first one that is not
    int totalA = 0;
    int totalB = 0;
    DiffCause cause = DiffCause::Same;
    QString part; ///< system|tools|template|message|generation; empty where nothing differs
    int message = -1; ///< index into the messages of B (of A where B has ended); -1 = in none
    QString role; ///< of that message
    QString evidence; ///< what shows it, short: "10:41:22 → 10:41:37", "read_file was added"
    QString reason; ///< one sentence
    QString fix; ///< what helps; empty where nothing needs to
    QString contextA; ///< a few words around the first difference, for display only; never logged
    QString contextB;
    friend bool operator==(const PromptDiff &, const PromptDiff &) = default;
};

/// First differing token, the part it lies in and its likely cause. Pure; linear in the two prompts.
PromptDiff diffPrompts(const DiffSide &a, const DiffSide &b);

} // namespace kerf
