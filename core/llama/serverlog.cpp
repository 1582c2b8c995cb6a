// SPDX-FileCopyrightText: 2026 Kerf contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/llama/serverlog.h"

#include <QLocale>
#include <QString>

#include <cmath>
#include <cstring>
#include <string_view>

namespace kerf {

namespace {

using View = std::string_view;
using Kind = LogEvent::Kind;

bool isDigit(char c) { return c >= '0' && c <= '9'; }

View trimmedFront(View text)
{
    std::size_t i = 0;
    while (i < text.size() && (text[i] == ' ' || text[i] == '\t'))
        ++i;
    return text.substr(i);
}

/// No count of tokens, slots or tasks is larger: such a number is a damaged line.
constexpr qint64 kLargest = 2'000'000'000;

/// The number that begins the text (spaces in front are skipped); -1 = none.
qint64 leadingNumber(View text)
{
    text = trimmedFront(text);
    bool negative = false;
    if (!text.empty() && text[0] == '-') {
        negative = true;
        text.remove_prefix(1);
    }
    if (text.empty() || !isDigit(text[0]))
        return -1;
    qint64 number = 0;
    for (const char c : text) {
        if (!isDigit(c))
            break;
        number = number * 10 + (c - '0');
        if (number > kLargest)
            return -1;
    }
    return negative ? -number : number;
}

/// NaN = none.
double leadingReal(View text)
{
    text = trimmedFront(text);
    double sign = 1;
    if (!text.empty() && text[0] == '-') {
        sign = -1;
        text.remove_prefix(1);
    }
    double value = 0;
    double scale = 0;
    bool any = false;
    for (const char c : text.substr(0, 32)) {
        if (isDigit(c)) {
            any = true;
            if (scale == 0)
                value = value * 10 + (c - '0');
            else {
                value += (c - '0') * scale;
                scale /= 10;
            }
        } else if (c == '.' && scale == 0) {
            scale = 0.1;
        } else {
            break;
        }
    }
    return any ? sign * value : std::nan("");
}

/// The text behind the first `key`; empty = it is not there.
View after(View text, View key)
{
    const std::size_t at = text.find(key);
    return at == View::npos ? View() : text.substr(at + key.size());
}

qint64 numberAfter(View text, View key)
{
    const View rest = after(text, key);
    return rest.data() ? leadingNumber(rest) : -1;
}

bool has(View text, View key) { return text.find(key) != View::npos; }
bool starts(View text, View key) { return text.substr(0, key.size()) == key; }

qint64 mib(View text, View key)
{
    const View rest = after(text, key);
    if (!rest.data())
        return -1;
    const double value = leadingReal(rest);
    return std::isnan(value) || value < 0 || value > 1e9 ? -1 : static_cast<qint64>(std::llround(value * 1024 * 1024));
}

/// -1 = none.
double realAfter(View text, View key)
{
    const View rest = after(text, key);
    const double value = rest.data() ? leadingReal(rest) : std::nan("");
    return std::isnan(value) ? -1 : value;
}

QByteArray quoted(View text)
{
    const std::size_t begin = text.find('\'');
    const std::size_t end = begin == View::npos ? View::npos : text.find('\'', begin + 1);
    return end == View::npos ? QByteArray()
                             : QByteArray(text.data() + begin + 1, static_cast<qsizetype>(end - begin - 1));
}

void checkpointNumbers(LogEvent &event, View message)
{
    event.posMin = static_cast<int>(numberAfter(message, "pos_min = "));
    event.posMax = static_cast<int>(numberAfter(message, "pos_max = "));
    event.value = numberAfter(message, "n_tokens = ");
    if (event.value < 0 && event.posMax >= 0)
        event.value = event.posMax + 1; // older builds do not name n_tokens
    event.bytes = mib(message, "size = ");
}

/// Lines that name checkpoints and change nothing that we follow (speculative decoding has its own, outside the ring).
bool isKnownCheckpointTalk(View message)
{
    for (const View known : {View("checking checkpoint"), View("no checkpoint"), View("speculative checkpoint"),
                             View("(restore checkpoint)"), View("do_checkpoint = "), View("context checkpoint data in"),
                             View("failed to append context checkpoints"), View("failed to restore context checkpoint"),
                             View("failed to load context checkpoint")}) {
        if (has(message, known))
            return true;
    }
    return false;
}

void parseSlot(LogEvent &event, View message)
{
    message = trimmedFront(message);
    while (starts(message, "- "))
        message = trimmedFront(message.substr(2));
    if (starts(message, "cached n_tokens") || starts(message, "n_past = ") || starts(message, "kv cache rm [")) {
        event.kind = Kind::Cached;
        event.value = leadingNumber(after(message, starts(message, "kv cache rm") ? View("[") : View("= ")));
    } else if (starts(message, "created context checkpoint") || starts(message, "saved context checkpoint")) {
        event.kind = Kind::CheckpointCreated;
        checkpointNumbers(event, message);
        event.second = numberAfter(message, "checkpoint ");
    } else if (starts(message, "erased invalidated context checkpoint")) {
        event.kind = Kind::CheckpointErased;
        checkpointNumbers(event, message);
    } else if (starts(message, "SWA checkpoint create")) {
        event.kind = Kind::CheckpointCreated;
        checkpointNumbers(event, message);
    } else if (starts(message, "SWA checkpoint erase")) {
        event.kind = Kind::CheckpointThinned;
        checkpointNumbers(event, message);
    } else if (starts(message, "SWA checkpoint restore")) {
        event.kind = Kind::CheckpointRestored;
        checkpointNumbers(event, message);
    } else if (starts(message, "erasing context checkpoint") || starts(message, "erasing old context checkpoint")
               || starts(message, "removing old context checkpoint")) {
        event.kind = Kind::CheckpointThinned;
        checkpointNumbers(event, message);
    } else if (starts(message, "superseding context checkpoint")) {
        event.kind = Kind::CheckpointSuperseded;
        event.value = numberAfter(message, "n_tokens = ");
    } else if (starts(message, "restored context checkpoint")) {
        event.kind = Kind::CheckpointRestored;
        checkpointNumbers(event, message);
        event.second = numberAfter(message, "n_past = ");
    } else if (starts(message, "forcing full prompt re-processing")) {
        event.kind = Kind::FullReprocessing;
    } else if (starts(message, "reusing chunk with size")) {
        event.kind = Kind::ChunkMoved;
        event.value = numberAfter(message, "size ");
        event.posMin = static_cast<int>(numberAfter(message, "["));
        event.second = numberAfter(after(message, "->"), "[");
    } else if (starts(message, "trying to reuse chunks with size > ")) {
        event.kind = Kind::ChunkSearch;
        event.value = numberAfter(message, "> ");
    } else if (starts(message, "cache reuse is not supported")) {
        event.kind = Kind::ChunksUnsupported;
    } else if (starts(message, "new prompt")) {
        event.kind = Kind::NewPrompt;
        event.value = numberAfter(message, "task.n_tokens = ");
        if (event.value < 0)
            event.value = numberAfter(message, "n_prompt_tokens = ");
    } else if (starts(message, "prompt processing")) {
        event.kind = Kind::Progress;
        event.value = numberAfter(message, " n_tokens = ");
    } else if (starts(message, "skipping, slot is empty")) {
        event.kind = Kind::SlotEmpty;
    } else if (starts(message, "slot context shift") || starts(message, "context shift")) {
        event.kind = Kind::ContextShifted;
        event.value = numberAfter(message, "n_discard = ");
        event.second = numberAfter(message, "n_keep = ");
    } else if (starts(message, "checking sim")) {
        event.kind = Kind::Similarity;
        const View pair = after(message, "(");
        event.value = leadingNumber(pair);
        event.second = leadingNumber(after(pair, "/"));
    } else if (starts(message, "selected slot by")) {
        const View how = message.substr(0, 40);
        if (has(how, "by id")) {
            event.kind = Kind::SelectedById;
        } else if (has(how, "by LRU") || has(how, "by lru")) {
            event.kind = Kind::SelectedByLru;
            event.value = numberAfter(message, "n_tokens = ");
        } else { // "LCP", older "lcs"
            event.kind = Kind::SelectedByLcp;
            event.similarity =
                realAfter(message, has(message, "sim_best = ") ? View("sim_best = ") : View("similarity = "));
            event.keep = realAfter(message, "f_keep = ");
        }
    } else if (starts(message, "processing task")) {
        event.kind = Kind::Launched;
    } else if (starts(message, "prompt eval time")) {
        event.kind = Kind::PromptTiming;
        event.ms = realAfter(message, "= ");
        event.value = numberAfter(message, "/");
    } else if (starts(message, "eval time")) {
        event.kind = Kind::EvalTiming;
        event.ms = realAfter(message, "= ");
        event.value = numberAfter(message, "/");
    } else if (starts(message, "stop processing")) {
        event.kind = Kind::Released;
        event.value = numberAfter(message, "n_tokens = ");
        if (event.value < 0)
            event.value = numberAfter(message, "n_past = ");
    } else if (starts(message, "clearing prompt")) {
        event.kind = Kind::Cleared;
        event.value = numberAfter(message, "with ");
    } else if (starts(message, "clearing cache for lora change")
               || (starts(message, "failed to truncate tokens") && has(message, "clearing the memory"))) {
        event.kind = Kind::Cleared;
    } else if (starts(message, "failed to load prompt from cache")) {
        event.kind = Kind::PromptLoadFailed;
    } else if (starts(message, "saving idle slot")) {
        event.kind = Kind::SavingIdleSlot;
    } else if (starts(message, "appended ") && has(message, "context checkpoint")) {
        event.kind = Kind::SlotSaved;
        event.value = numberAfter(message, "appended ");
        event.text = quoted(message);
    } else if (starts(message, "restored ") && has(message, "context checkpoint(s)")) {
        event.kind = Kind::SlotRestored;
        event.value = numberAfter(message, "restored ");
        event.text = quoted(message);
    } else if (has(message, "context checkpoint appendix in")) {
        event.kind = Kind::SlotRestored; // damaged: the tokens are there, the ring is not
        event.value = 0;
        event.text = quoted(message);
    } else if (has(message, "checkpoint") && !isKnownCheckpointTalk(message)) {
        event.kind = Kind::NotUnderstood;
    }
}

bool isKnownCacheTalk(View message)
{
    for (const View known :
         {View("updating prompt cache"), View("prompt cache update took"), View("to disable the prompt cache"),
          View("cache size limit reduced"), View("prompt cache disabled"), View("for more info")}) {
        if (has(message, known))
            return true;
    }
    return false;
}

void parseServer(LogEvent &event, View message)
{
    message = trimmedFront(message);
    while (starts(message, "- "))
        message = trimmedFront(message.substr(2));
    if (starts(message, "saving prompt with length")) {
        event.kind = Kind::PromptSaved;
        event.value = numberAfter(message, "length ");
    } else if (starts(message, "prompt is already in the cache")) {
        event.kind = Kind::PromptAlreadySaved;
    } else if (starts(message, "removing obsolete cached prompt")) {
        event.kind = Kind::PromptObsolete;
        event.value = numberAfter(message, "length ");
    } else if (has(message, "removing oldest entry")) {
        event.kind = Kind::PromptDropped;
    } else if (has(message, "exceeds cache size limit")
               || starts(message, "failed to allocate memory for prompt cache")) {
        event.kind = Kind::PromptNotSaved;
    } else if (starts(message, "looking for better prompt")) {
        event.kind = Kind::PromptSearch;
        event.keep = realAfter(message, "f_keep =");
        event.similarity = realAfter(message, "sim =");
    } else if (starts(message, "prompt with length")) {
        event.kind = Kind::PromptOffered;
        event.value = numberAfter(message, "length");
        event.second = numberAfter(message, "lcp =");
        event.keep = realAfter(message, "f_keep =");
        event.similarity = realAfter(message, "sim =");
    } else if (starts(message, "found better prompt")) {
        event.kind = Kind::PromptFound;
        event.keep = realAfter(message, "f_keep =");
        event.similarity = realAfter(message, "sim =");
    } else if (starts(message, "cache state:")) {
        event.kind = Kind::CacheState;
        event.value = numberAfter(message, "state:");
        event.bytes = mib(message, "prompts,");
        event.second = numberAfter(message, "limits:");
    } else if (starts(message, "prompt 0x")) {
        event.kind = Kind::CacheEntry;
        event.value = leadingNumber(after(message, ":"));
        event.second = numberAfter(message, "checkpoints:");
        const std::size_t comma = message.rfind(',');
        if (comma != View::npos)
            event.bytes = mib(message.substr(comma), ",");
    } else if (starts(message, "context checkpoints disabled")) {
        event.kind = Kind::CheckpointsEnabled;
        event.value = 0;
    } else if (starts(message, "prompt cache is enabled")) {
        event.kind = Kind::HostCacheLimit;
        event.value = numberAfter(message, "size limit: ");
        event.flag = event.value < 0; // "no limit"
    } else if (starts(message, "prompt cache is disabled")) {
        event.kind = Kind::HostCacheLimit;
        event.value = 0;
    } else if (starts(message, "context checkpoints enabled")) {
        event.kind = Kind::CheckpointsEnabled;
        event.value = numberAfter(message, "max = ");
        event.second = numberAfter(message, "min spacing = ");
    } else if (starts(message, "idle slots will be saved")) {
        event.kind = has(message, "cleared") ? Kind::IdleSlotsCleared : Kind::IdleSlotsSaved;
    } else if (starts(message, "initializing, n_slots") || starts(message, "initializing slots, n_slots")) {
        event.kind = Kind::SlotsInit;
        event.value = numberAfter(message, "n_slots = ");
        event.second = numberAfter(message, "n_ctx_slot = ");
        event.flag = has(message, "kv_unified = 'true'");
    } else if (starts(message, "initializing ...")) {
        event.kind = Kind::ServerStart;
    } else if (starts(message, "listening on ") || starts(message, "server is listening on ")) {
        event.kind = Kind::Listening;
        View url = after(message, "listening on ");
        url = url.substr(0, url.find(' '));
        event.text = QByteArray(url.data(), static_cast<qsizetype>(url.size()));
    } else if (starts(message, "loading model '")) {
        event.kind = Kind::ModelLoading;
        event.text = quoted(message);
    } else if (starts(message, "model loaded")) {
        event.kind = Kind::ModelLoaded;
    } else if (has(message, "cleaning up before exit")) {
        event.kind = Kind::ShuttingDown;
    } else if (starts(message, "instance name=") && has(message, "exited with status")) {
        event.kind = Kind::ChildEnded;
    } else if ((has(message, "cached prompt") || has(message, "prompt cache") || starts(message, "cache "))
               && !isKnownCacheTalk(message)) {
        event.kind = Kind::NotUnderstood;
    }
}

/// The message of a --log-jsonl line, its first line only. `room` holds it where it had to be unescaped.
View jsonMessage(View line, QByteArray &room)
{
    const View rest = after(line, "\"msg\":");
    const std::size_t open = rest.find('"');
    if (!rest.data() || open == View::npos || open > 2)
        return {};
    const View text = rest.substr(open + 1);
    std::size_t end = 0;
    while (end < text.size() && text[end] != '"' && text[end] != '\\')
        ++end;
    if (end == text.size() || text[end] == '"' || text.substr(end, 2) == "\\n")
        return text.substr(0, end);
    room.reserve(static_cast<qsizetype>(std::min<std::size_t>(text.size(), 4096)));
    for (std::size_t i = 0; i < text.size() && text[i] != '"' && room.size() < 4096; ++i) {
        if (text[i] != '\\') {
            room.append(text[i]);
            continue;
        }
        if (++i == text.size() || text[i] == 'n')
            break;
        if (text[i] == 'u') {
            room.append('?');
            i += 4;
        } else {
            room.append(text[i] == 't' || text[i] == 'r' ? ' ' : text[i]);
        }
    }
    return {room.constData(), static_cast<std::size_t>(room.size())};
}

/// Whether a word at this place may begin a message: at the start, behind a space, or behind a terminal colour.
bool beginsWord(View line, std::size_t at)
{
    return at == 0 || line[at - 1] == ' ' || (line[at - 1] == 'm' && line.substr(0, at).rfind('\033') != View::npos);
}

void parseMessage(LogEvent &event, View line)
{
    // "slot NAME: id  0 | task 40 | MESSAGE", whatever stands before it (but for text of the prompt: only near the
    // front).
    const View front = line.substr(0, 64);
    std::size_t at = front.find("slot ");
    if (at != View::npos && beginsWord(line, at)) {
        const View body = line.substr(at);
        const std::size_t id = body.find(" id ");
        const std::size_t task = id == View::npos ? View::npos : body.find("| task ", id);
        if (task != View::npos && id < 40 && task < 64 && body[id - 1] == ':') {
            event.slot = static_cast<int>(leadingNumber(body.substr(id + 4)));
            const View rest = body.substr(task + 7);
            event.task = leadingNumber(rest);
            const View message = after(rest, "| ");
            if (event.slot >= 0 && message.data())
                parseSlot(event, message);
            return;
        }
    }
    at = front.find("srv ");
    if (at != View::npos && beginsWord(line, at)) {
        const View body = line.substr(at + 4);
        const std::size_t colon = body.find(": ");
        if (colon != View::npos && colon < 40)
            parseServer(event, body.substr(colon + 2));
        return;
    }
    if (front.find("llama_memory_recurrent: size") != View::npos) {
        event.kind = Kind::RecurrentMemory;
    } else if (at = front.find("llama_kv_cache_iswa: "); at != View::npos) {
        const View info = line.substr(at + 21);
        if (starts(info, "using full-size SWA cache")) {
            event.kind = Kind::FullWindow;
        } else if (starts(info, "creating") && has(info, " SWA KV cache") && !has(info, "non-SWA")) {
            event.kind = Kind::WindowCells;
            event.value = numberAfter(info, "size = ");
        }
    } else if (const View info = after(line.substr(0, 160), "common_params_print_info: "); info.data()) {
        if (starts(info, "build ")) {
            event.kind = Kind::Build;
            event.value = leadingNumber(info.substr(6));
        } else if (starts(info, "verbosity = ")) {
            event.kind = Kind::Verbosity;
            event.value = leadingNumber(info.substr(12));
        }
    } else if (at = front.find("print_info: "); at != View::npos) {
        const View body = line.substr(at + 12);
        if (starts(body, "arch ")) {
            event.kind = Kind::Architecture;
            View name = trimmedFront(after(body, "= "));
            name = name.substr(0, name.find(' '));
            event.text = QByteArray(name.data(), static_cast<qsizetype>(name.size()));
        } else if (starts(body, "n_swa ")) {
            event.kind = Kind::SlidingWindow;
            event.value = numberAfter(body, "= ");
        }
    } else if (at = front.find("build: ");
               at != View::npos && beginsWord(line, at) && leadingNumber(line.substr(at + 7)) > 0) {
        event.kind = Kind::Build; // older builds begin with "build: 6140 (hash) with ..."
        event.value = leadingNumber(line.substr(at + 7));
    } else if (at = front.find("main: server is listening on "); at != View::npos) {
        event.kind = Kind::Listening;
        View url = line.substr(at + 29);
        url = url.substr(0, url.find(' '));
        event.text = QByteArray(url.data(), static_cast<qsizetype>(url.size()));
    }
}

} // namespace

LogEvent parseServerLogLine(QByteArrayView raw)
{
    LogEvent event;
    View line(raw.data() ? raw.data() : "", static_cast<std::size_t>(raw.size()));
    for (;;) {
        if (line.size() >= 4 && line.substr(line.size() - 4) == "\033[0m")
            line.remove_suffix(4);
        else if (!line.empty() && (line.back() == '\n' || line.back() == '\r' || line.back() == ' '))
            line.remove_suffix(1);
        else
            break;
    }
    if (line.size() < 8)
        return event;
    if (line[0] == '[' && isDigit(line[1])) { // a router names the port of the child whose line it passes on
        const std::size_t close = line.substr(0, 16).find("] ");
        if (close != View::npos) {
            event.child = static_cast<int>(leadingNumber(line.substr(1)));
            line.remove_prefix(close + 2);
        }
    }
    if (line[0] == '{' && has(line.substr(0, 200), "\"msg\"")) {
        QByteArray room;
        View message = jsonMessage(line, room);
        if (message.size() >= 8 && message[0] == '[' && isDigit(message[1]) && event.child < 0) {
            const std::size_t close = message.substr(0, 16).find("] ");
            if (close != View::npos) {
                event.child = static_cast<int>(leadingNumber(message.substr(1)));
                message.remove_prefix(close + 2);
            }
        }
        if (message.size() >= 8)
            parseMessage(event, message);
        return event;
    }
    parseMessage(event, line);
    return event;
}

QString readingOf(const LogEvent &event)
{
    const QLocale locale(QLocale::English, QLocale::UnitedStates);
    const QString value = locale.toString(event.value);
    switch (event.kind) {
    case Kind::ServerStart:
        return QStringLiteral("the server starts");
    case Kind::Listening:
        return QStringLiteral("the server listens");
    case Kind::CheckpointsEnabled:
        if (event.value == 0)
            return QStringLiteral("no context checkpoints");
        return QStringLiteral("context checkpoints: at most %1, %2 tokens apart")
            .arg(value, locale.toString(event.second));
    case Kind::IdleSlotsCleared:
        return QStringLiteral("idle slots are saved and cleared when another starts a task");
    case Kind::SlotsInit:
        return QStringLiteral("%1 slots, a window of %2 tokens%3")
            .arg(value, locale.toString(event.second), event.flag ? QStringLiteral(", one memory for all") : QString());
    case Kind::Build:
        return QStringLiteral("build %1").arg(event.value);
    case Kind::Verbosity:
        return QStringLiteral("the log is written at -lv %1").arg(event.value);
    case Kind::Architecture:
        return QStringLiteral("architecture %1").arg(QString::fromUtf8(event.text));
    case Kind::SlidingWindow:
        return event.value > 0 ? QStringLiteral("sliding window of %1 tokens").arg(value) : QString();
    case Kind::RecurrentMemory:
        return QStringLiteral("recurrent memory");
    case Kind::SelectedByLcp:
        return QStringLiteral("slot %1 chosen: it has the longest common prefix").arg(event.slot);
    case Kind::SelectedByLru:
        return QStringLiteral("slot %1 chosen: the least recently used").arg(event.slot);
    case Kind::SelectedById:
        return QStringLiteral("slot %1 chosen: the request names it").arg(event.slot);
    case Kind::Cached:
        return event.value < 0 ? QString() : QStringLiteral("%1 tokens reused").arg(value);
    case Kind::Progress:
        return event.value < 0 ? QString() : QStringLiteral("%1 tokens of the prompt are in").arg(value);
    case Kind::EvalTiming:
        return QStringLiteral("%1 tokens generated").arg(value);
    case Kind::PromptOffered:
        return QStringLiteral("saved prompt of %1 tokens: %2 equal").arg(value, locale.toString(event.second));
    case Kind::CacheEntry:
        return QStringLiteral("saved prompt: %1 tokens, %2 checkpoints, %3 MiB")
            .arg(value, locale.toString(event.second),
                 locale.toString(double(std::max<qint64>(0, event.bytes)) / 1048576, 'f', 2));
    case Kind::SlotEmpty:
        return QStringLiteral("slot %1 is empty").arg(event.slot);
    case Kind::SlotSaved:
        return QStringLiteral("slot %1 saved to a file, %2 checkpoints").arg(event.slot).arg(value);
    case Kind::SlotRestored:
        return QStringLiteral("slot %1 restored from a file, %2 checkpoints").arg(event.slot).arg(value);
    case Kind::PromptObsolete:
        return QStringLiteral("saved prompt of %1 tokens dropped: a longer one has it").arg(value);
    case Kind::Similarity:
        return QStringLiteral("%1 of %2 tokens equal").arg(value, locale.toString(event.second));
    case Kind::Launched:
        return QStringLiteral("task %1 starts").arg(event.task);
    case Kind::NewPrompt:
        return QStringLiteral("prompt of %1 tokens").arg(value);
    case Kind::CheckpointCreated:
        return QStringLiteral("checkpoint %1 made").arg(value);
    case Kind::CheckpointRestored:
        return QStringLiteral("checkpoint %1 restored").arg(value);
    case Kind::CheckpointErased:
        return QStringLiteral("checkpoint %1 erased by task %2").arg(value).arg(event.task);
    case Kind::CheckpointThinned:
        return QStringLiteral("checkpoint %1 thinned out").arg(value);
    case Kind::CheckpointSuperseded:
        return QStringLiteral("checkpoint %1 replaced").arg(value);
    case Kind::FullReprocessing:
        return QStringLiteral("everything is processed again");
    case Kind::ChunkMoved:
        return QStringLiteral("%1 tokens moved from %2 to %3")
            .arg(value, locale.toString(event.posMin), locale.toString(event.second));
    case Kind::PromptTiming:
        return QStringLiteral("%1 tokens prefilled").arg(value);
    case Kind::Released:
        return QStringLiteral("task %1 ends with %2 tokens held").arg(event.task).arg(value);
    case Kind::Cleared:
        return event.value > 0 ? QStringLiteral("slot %1 cleared (%2 tokens)").arg(event.slot).arg(value)
            : event.value < 0  ? QStringLiteral("slot %1 cleared").arg(event.slot)
                               : QString();
    case Kind::PromptSaved:
        return QStringLiteral("prompt of %1 tokens saved to the host cache").arg(value);
    case Kind::PromptFound:
        return QStringLiteral("a saved prompt is loaded from the host cache");
    case Kind::PromptDropped:
        return QStringLiteral("the oldest saved prompt was dropped");
    case Kind::CacheState:
        return QStringLiteral("host cache: %1 prompts").arg(value);
    case Kind::PromptNotSaved:
        return QStringLiteral("the prompt is too large for the host cache and was not saved");
    case Kind::PromptAlreadySaved:
        return QStringLiteral("the prompt is in the host cache already");
    case Kind::ContextShifted:
        return QStringLiteral("context shift: %1 tokens behind the first %2 dropped")
            .arg(value, locale.toString(event.second));
    case Kind::FullWindow:
        return QStringLiteral("the window's memory keeps everything (--swa-full)");
    case Kind::HostCacheLimit:
        return event.flag      ? QStringLiteral("host cache without limit")
            : event.value == 0 ? QStringLiteral("no host cache")
                               : QStringLiteral("host cache of at most %1 MiB").arg(value);
    case Kind::ModelLoading:
        return QStringLiteral("a model is loaded");
    case Kind::ShuttingDown:
        return QStringLiteral("the server shuts down");
    case Kind::NotUnderstood:
        return QStringLiteral("not understood");
    default:
        return {};
    }
}

} // namespace kerf
