<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="en" sourcelanguage="en">
<context>
    <name>kerf::CheckpointsModel</name>
    <message numerus="yes">
        <source>%n checkpoint(s)</source>
        <translation>
            <numerusform>%n checkpoint</numerusform>
            <numerusform>%n checkpoints</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>kerf::PrefillChart</name>
    <message numerus="yes">
        <source>Prefill cost, %n compaction(s)</source>
        <translation>
            <numerusform>Prefill cost, %n compaction</numerusform>
            <numerusform>Prefill cost, %n compactions</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>kerf::ReceiptView</name>
    <message numerus="yes">
        <source>%n episode(s)</source>
        <translation>
            <numerusform>%n episode</numerusform>
            <numerusform>%n episodes</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>kerf::RetainedPrefixView</name>
    <message numerus="yes">
        <source>%1 equal tokens before</source>
        <translation>
            <numerusform>%1 equal token before</numerusform>
            <numerusform>%1 equal tokens before</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>kerf::TimelineView</name>
    <message numerus="yes">
        <source>%1, %n episode(s)</source>
        <translation>
            <numerusform>%1, %n episode</numerusform>
            <numerusform>%1, %n episodes</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n episode(s)</source>
        <translation>
            <numerusform>%n episode</numerusform>
            <numerusform>%n episodes</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n episode(s), %1 tokens</source>
        <translation>
            <numerusform>%n episode, %1 tokens</numerusform>
            <numerusform>%n episodes, %1 tokens</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Timeline, %n episode(s) in the prompt</source>
        <translation>
            <numerusform>Timeline, %n episode in the prompt</numerusform>
            <numerusform>Timeline, %n episodes in the prompt</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>kerf::VerdictStrip</name>
    <message numerus="yes">
        <source>The session has moved on by %n episode(s). Plan again (F6).</source>
        <translation>
            <numerusform>The session has moved on by %n episode. Plan again (F6).</numerusform>
            <numerusform>The session has moved on by %n episodes. Plan again (F6).</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>Words</name>
    <message numerus="yes">
        <source>%n checkpoint(s)</source>
        <translation>
            <numerusform>%n checkpoint</numerusform>
            <numerusform>%n checkpoints</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>kerf::Prober</name>
    <message numerus="yes">
        <source>%n slot(s)</source>
        <translation>
            <numerusform>%n slot</numerusform>
            <numerusform>%n slots</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Kerf %1, %2, %n session(s)</source>
        <translation>
            <numerusform>Kerf %1, %2, %n session</numerusform>
            <numerusform>Kerf %1, %2, %n sessions</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>Privacy</name>
    <message numerus="yes">
        <source>%n byte(s), sha256 %1</source>
        <translation>
            <numerusform>%n byte, sha256 %1</numerusform>
            <numerusform>%n bytes, sha256 %1</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>kerf::FindPanel</name>
    <message numerus="yes">
        <source>%n found</source>
        <translation>
            <numerusform>%n found</numerusform>
            <numerusform>%n found</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>kerf::ProfileEditor</name>
    <message numerus="yes">
        <source>%n more token(s) kept</source>
        <translation>
            <numerusform>%n more token kept</numerusform>
            <numerusform>%n more tokens kept</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n fewer token(s) kept</source>
        <translation>
            <numerusform>%n fewer token kept</numerusform>
            <numerusform>%n fewer tokens kept</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>kerf::MainWindow</name>
    <message numerus="yes">
        <source>%n tries</source>
        <translation>
            <numerusform>%n try</numerusform>
            <numerusform>%n tries</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>kerf::Shell</name>
    <message numerus="yes">
        <source>%n episode(s) imported</source>
        <translation>
            <numerusform>%n episode imported</numerusform>
            <numerusform>%n episodes imported</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>, %n line(s) skipped</source>
        <translation>
            <numerusform>, %n line skipped</numerusform>
            <numerusform>, %n lines skipped</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1, %n value(s) changed</source>
        <translation>
            <numerusform>%1, %n value changed</numerusform>
            <numerusform>%1, %n values changed</numerusform>
        </translation>
    </message>
</context>
</TS>
