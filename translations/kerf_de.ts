<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de" sourcelanguage="en">
<context>
    <name>kerf::CheckpointRing</name>
    <message>
        <source>Checkpoint ring</source>
        <translation>Checkpoint-Ring</translation>
    </message>
    <message>
        <source>The prompt of this slot on a circle, 0 at the top. Solid is reused, stripes are equal tokens that must be computed again, the thin hatch is evicted. Heads outside are checkpoints: positions that the server can go back to.</source>
        <translation>Der Prompt dieses Slots als Kreis, 0 ist oben. Volle Flächen werden wiederverwendet, Streifen sind gleiche Token, die neu berechnet werden müssen, die dünne Schraffur ist entfernt. Die Köpfe außen sind Checkpoints: Stellen, zu denen der Server zurückkehren kann.</translation>
    </message>
    <message>
        <source>Full</source>
        <comment>ring scale</comment>
        <translation>Ganz</translation>
    </message>
    <message>
        <source>Fit</source>
        <comment>ring scale</comment>
        <translation>Einpassen</translation>
    </message>
    <message>
        <source>Show the whole context of %1 tokens</source>
        <translation>Den ganzen Kontext von %1 Token zeigen</translation>
    </message>
    <message>
        <source>Scale the circle to the prompt</source>
        <translation>Den Kreis auf den Prompt einpassen</translation>
    </message>
    <message>
        <source>%1 to %2</source>
        <translation>%1 bis %2</translation>
    </message>
    <message>
        <source>No session</source>
        <translation>Keine Sitzung</translation>
    </message>
    <message>
        <source>no server</source>
        <translation>kein Server</translation>
    </message>
    <message>
        <source>not run yet</source>
        <translation>noch nicht gelaufen</translation>
    </message>
    <message>
        <source>no checkpoint yet</source>
        <translation>noch kein Checkpoint</translation>
    </message>
    <message>
        <source>ring not visible</source>
        <translation>Ring nicht sichtbar</translation>
    </message>
    <message>
        <source>no ring needed</source>
        <translation>kein Ring nötig</translation>
    </message>
    <message>
        <source>as of %1</source>
        <translation>Stand %1</translation>
    </message>
    <message>
        <source>never answered</source>
        <translation>nie geantwortet</translation>
    </message>
    <message>
        <source>SIMULATED</source>
        <translation>SIMULIERT</translation>
    </message>
    <message>
        <source>may reuse</source>
        <translation>vielleicht wiederverwendet</translation>
    </message>
    <message>
        <source>would reuse</source>
        <translation>würde wiederverwendet</translation>
    </message>
    <message>
        <source>reused</source>
        <translation>wiederverwendet</translation>
    </message>
    <message>
        <source>in the prompt</source>
        <translation>im Prompt</translation>
    </message>
    <message>
        <source>last measured</source>
        <translation>zuletzt gemessen</translation>
    </message>
    <message>
        <source>last known</source>
        <translation>zuletzt bekannt</translation>
    </message>
    <message>
        <source>reused, model only</source>
        <translation>wiederverwendet, nur Modell</translation>
    </message>
    <message>
        <source>tokens, model only</source>
        <translation>Token, nur Modell</translation>
    </message>
    <message>
        <source>of %1 sent</source>
        <translation>von %1 gesendeten</translation>
    </message>
    <message>
        <source>of %1</source>
        <translation>von %1</translation>
    </message>
    <message>
        <source>Reused</source>
        <translation>Wiederverwendet</translation>
    </message>
    <message>
        <source>Kept, reuse unknown</source>
        <translation>Behalten, Wiederverwendung unbekannt</translation>
    </message>
    <message>
        <source>Kept, computed again</source>
        <translation>Behalten, neu berechnet</translation>
    </message>
    <message>
        <source>Prefilled</source>
        <translation>Neu gelesen</translation>
    </message>
    <message>
        <source>Evicted</source>
        <translation>Entfernt</translation>
    </message>
    <message>
        <source>Moved, reused</source>
        <translation>Verschoben, wiederverwendet</translation>
    </message>
    <message>
        <source>Recent</source>
        <translation>Jüngste</translation>
    </message>
    <message>
        <source>New since then</source>
        <translation>Seither neu</translation>
    </message>
    <message>
        <source>Held</source>
        <translation>Gehalten</translation>
    </message>
    <message>
        <source>No checkpoint yet: the server makes them while it works.</source>
        <translation>Noch kein Checkpoint: der Server legt sie bei der Arbeit an.</translation>
    </message>
    <message>
        <source>This slot has not run yet.</source>
        <translation>Dieser Slot ist noch nicht gelaufen.</translation>
    </message>
    <message>
        <source>No slot to look at.</source>
        <translation>Kein Slot, den man ansehen könnte.</translation>
    </message>
    <message>
        <source>Any token can be a cut.</source>
        <translation>An jedem Token kann geschnitten werden.</translation>
    </message>
    <message>
        <source>The server lists no checkpoints; attach its log.</source>
        <translation>Der Server nennt keine Checkpoints; hängen Sie sein Log an.</translation>
    </message>
    <message>
        <source>%1 %</source>
        <translation>%1 %</translation>
    </message>
    <message>
        <source>%1 as requested</source>
        <translation>%1 wie verlangt</translation>
    </message>
    <message>
        <source>%1 kept</source>
        <translation>%1 behalten</translation>
    </message>
    <message>
        <source>%1 requested</source>
        <translation>%1 verlangt</translation>
    </message>
    <message>
        <source>n_past</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>booked</source>
        <translation>gebucht</translation>
    </message>
    <message>
        <source>%1 tokens reused, measured. The server took them from its cache.</source>
        <translation>%1 Token wiederverwendet, gemessen. Der Server nahm sie aus seinem Cache.</translation>
    </message>
    <message>
        <source>%1 tokens would be reused, predicted.</source>
        <translation>%1 Token würden wiederverwendet, vorhergesagt.</translation>
    </message>
    <message>
        <source>%1 tokens are the same as before but lie above the checkpoint, so the server computes them again.</source>
        <translation>%1 Token sind dieselben wie zuvor, liegen aber über dem Checkpoint; der Server berechnet sie neu.</translation>
    </message>
    <message>
        <source>%1 tokens are kept but stand behind the cut, so the server computes them again.</source>
        <translation>%1 Token bleiben, stehen aber hinter dem Schnitt; der Server berechnet sie neu.</translation>
    </message>
    <message>
        <source>%1 tokens are evicted. Their text stays in the store.</source>
        <translation>%1 Token sind entfernt. Ihr Text bleibt gespeichert.</translation>
    </message>
    <message>
        <source>%1 recent tokens. They stay word for word.</source>
        <translation>%1 jüngste Token. Sie bleiben Wort für Wort.</translation>
    </message>
    <message>
        <source>%1 tokens prefilled by the last request, measured.</source>
        <translation>%1 Token bei der letzten Anfrage neu gelesen, gemessen.</translation>
    </message>
    <message>
        <source>%1 tokens moved by chunk reuse: same text, new place, not computed again.</source>
        <translation>%1 Token durch Chunk-Wiederverwendung verschoben: derselbe Text an neuer Stelle, nicht neu berechnet.</translation>
    </message>
    <message>
        <source>%1 tokens stay equal. Whether the server can reuse them is not known: its ring is not visible.</source>
        <translation>%1 Token bleiben gleich. Ob der Server sie wiederverwenden kann, ist nicht bekannt: sein Ring ist nicht sichtbar.</translation>
    </message>
    <message>
        <source>%1 tokens of the prompt. Nothing was measured for them yet.</source>
        <translation>%1 Token des Prompts. Für sie ist noch nichts gemessen.</translation>
    </message>
    <message>
        <source>Free. No checkpoint here.</source>
        <translation>Frei. Hier ist kein Checkpoint.</translation>
    </message>
    <message>
        <source>Position</source>
        <translation>Position</translation>
    </message>
    <message>
        <source>Kind</source>
        <translation>Art</translation>
    </message>
    <message>
        <source>MiB</source>
        <translation>MiB</translation>
    </message>
    <message>
        <source>For this cut</source>
        <translation>Für diesen Schnitt</translation>
    </message>
    <message>
        <source>not reported</source>
        <translation>nicht gemeldet</translation>
    </message>
</context>
<context>
    <name>kerf::CheckpointsModel</name>
    <message numerus="yes">
        <source>%n checkpoint(s)</source>
        <translation>
            <numerusform>%n Checkpoint</numerusform>
            <numerusform>%n Checkpoints</numerusform>
        </translation>
    </message>
    <message>
        <source>%1, %2 MiB</source>
        <translation>%1, %2 MiB</translation>
    </message>
    <message>
        <source>%1, size of %2 not reported</source>
        <translation>%1, Größe von %2 nicht gemeldet</translation>
    </message>
    <message>
        <source>not reported</source>
        <translation>nicht gemeldet</translation>
    </message>
    <message>
        <source>task %1</source>
        <translation>Task %1</translation>
    </message>
    <message>
        <source>%1 s</source>
        <translation>%1 s</translation>
    </message>
    <message>
        <source>%1 min</source>
        <translation>%1 min</translation>
    </message>
    <message>
        <source>%1 h</source>
        <translation>%1 h</translation>
    </message>
    <message>
        <source>Position</source>
        <translation>Position</translation>
    </message>
    <message>
        <source>Kind</source>
        <translation>Art</translation>
    </message>
    <message>
        <source>MiB</source>
        <translation>MiB</translation>
    </message>
    <message>
        <source>Made by</source>
        <translation>Angelegt von</translation>
    </message>
    <message>
        <source>Age</source>
        <translation>Alter</translation>
    </message>
    <message>
        <source>For this cut</source>
        <translation>Für diesen Schnitt</translation>
    </message>
</context>
<context>
    <name>kerf::CompactionsModel</name>
    <message>
        <source>not reported</source>
        <translation>nicht gemeldet</translation>
    </message>
    <message>
        <source>%1 %2</source>
        <comment>sign, outcome</comment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Compaction %1, %2.
%3
cache_status %4</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1
Predicted %2, measured %3: %4</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>cause unknown</source>
        <translation>Ursache unbekannt</translation>
    </message>
    <message>
        <source>#</source>
        <translation>#</translation>
    </message>
    <message>
        <source>Verdict</source>
        <translation>Urteil</translation>
    </message>
    <message>
        <source>Reused</source>
        <translation>Wiederverwendet</translation>
    </message>
    <message>
        <source>Prefilled</source>
        <translation>Neu gelesen</translation>
    </message>
    <message>
        <source>ms</source>
        <translation>ms</translation>
    </message>
    <message>
        <source>Outcome</source>
        <translation>Ausgang</translation>
    </message>
</context>
<context>
    <name>kerf::ConnectionDialog</name>
    <message>
        <source>Connect</source>
        <translation>Verbinden</translation>
    </message>
    <message>
        <source>&amp;llama-server</source>
        <translation>&amp;llama-server</translation>
    </message>
    <message>
        <source>Kerf looks at the server&apos;s slots and plans for it. Only what you apply or ask for changes anything there.</source>
        <translation>Kerf sieht sich die Slots des Servers an und plant für ihn. Nur was Sie anwenden oder verlangen, ändert dort etwas.</translation>
    </message>
    <message>
        <source>only if the server was started with --api-key</source>
        <translation>nur wenn der Server mit --api-key gestartet wurde</translation>
    </message>
    <message>
        <source>the only place where checkpoints show (start with -lv 4)</source>
        <translation>der einzige Ort, an dem Checkpoints zu sehen sind (mit -lv 4 starten)</translation>
    </message>
    <message>
        <source>&amp;Address</source>
        <translation>&amp;Adresse</translation>
    </message>
    <message>
        <source>API &amp;key</source>
        <translation>API-&amp;Schlüssel</translation>
    </message>
    <message>
        <source>Browse…</source>
        <translation>Durchsuchen…</translation>
    </message>
    <message>
        <source>Choose the log file</source>
        <translation>Logdatei wählen</translation>
    </message>
    <message>
        <source>L&amp;og file</source>
        <translation>L&amp;ogdatei</translation>
    </message>
    <message>
        <source>The key stays in memory; it is not stored.</source>
        <translation>Der Schlüssel bleibt im Arbeitsspeicher und wird nicht gespeichert.</translation>
    </message>
    <message>
        <source>&amp;Running Kerf service</source>
        <translation>L&amp;aufender Kerf-Dienst</translation>
    </message>
    <message>
        <source>Attach to kerfd, or to another console, through its socket.</source>
        <translation>Über den Socket mit kerfd oder einer anderen Konsole verbinden.</translation>
    </message>
    <message>
        <source>empty: the usual place</source>
        <translation>leer: der übliche Ort</translation>
    </message>
    <message>
        <source>&amp;Socket</source>
        <translation>&amp;Socket</translation>
    </message>
    <message>
        <source>&amp;Embedded (simulated)</source>
        <translation>&amp;Eingebettet (simuliert)</translation>
    </message>
    <message>
        <source>No server is involved. It tests the mechanism and proves nothing about your server.</source>
        <translation>Kein Server ist beteiligt. Es prüft den Mechanismus und beweist nichts über Ihren Server.</translation>
    </message>
    <message>
        <source>Server log</source>
        <translation>Server-Log</translation>
    </message>
    <message>
        <source>The address must be like http://127.0.0.1:8080.</source>
        <translation>Die Adresse muss aussehen wie http://127.0.0.1:8080.</translation>
    </message>
</context>
<context>
    <name>kerf::Controller</name>
    <message>
        <source>embedded (simulated)</source>
        <translation>eingebettet (simuliert)</translation>
    </message>
    <message>
        <source>running service</source>
        <translation>laufender Dienst</translation>
    </message>
    <message>
        <source>The service sends no events</source>
        <translation>Der Dienst sendet keine Ereignisse</translation>
    </message>
    <message>
        <source>Nothing to compare yet.</source>
        <translation>Noch nichts zu vergleichen.</translation>
    </message>
    <message>
        <source>The sessions cannot be listed</source>
        <translation>Die Sitzungen lassen sich nicht auflisten</translation>
    </message>
    <message>
        <source>Session %1 cannot be read</source>
        <translation>Sitzung %1 lässt sich nicht lesen</translation>
    </message>
    <message>
        <source>The episodes of session %1 cannot be read</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What is held cannot be compared: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What is held cannot be read: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The next prompt cannot be read: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>held</source>
        <translation>gehalten</translation>
    </message>
    <message>
        <source>next</source>
        <comment>the prompt that would be sent next</comment>
        <translation>nächster</translation>
    </message>
    <message>
        <source>The session was not made</source>
        <translation>Die Sitzung wurde nicht angelegt</translation>
    </message>
    <message>
        <source>Not connected.</source>
        <translation>Nicht verbunden.</translation>
    </message>
    <message>
        <source>No session is open.</source>
        <translation>Keine Sitzung ist offen.</translation>
    </message>
    <message>
        <source>The server does not answer.</source>
        <translation>Der Server antwortet nicht.</translation>
    </message>
    <message>
        <source>No plan. Press F6.</source>
        <translation>Kein Plan. F6 drücken.</translation>
    </message>
    <message>
        <source>The plan evicts nothing: no cut is needed.</source>
        <translation>Der Plan entfernt nichts: kein Schnitt ist nötig.</translation>
    </message>
    <message>
        <source>The session moved on: plan again (F6).</source>
        <translation>Die Sitzung ging weiter: neu planen (F6).</translation>
    </message>
    <message>
        <source>Planning…</source>
        <translation>Planung…</translation>
    </message>
    <message>
        <source>No plan was made</source>
        <translation>Es entstand kein Plan</translation>
    </message>
    <message>
        <source>No cut is needed.</source>
        <translation>Kein Schnitt ist nötig.</translation>
    </message>
    <message>
        <source>The plan was not applied</source>
        <translation>Der Plan wurde nicht angewandt</translation>
    </message>
    <message>
        <source>Compaction %1 applied. The next request proves it.</source>
        <translation>Kürzung %1 angewandt. Die nächste Anfrage beweist sie.</translation>
    </message>
    <message>
        <source>Compaction %1 was not undone</source>
        <translation>Kürzung %1 wurde nicht zurückgenommen</translation>
    </message>
    <message>
        <source>Compaction %1 undone. The server must prefill about %2 tokens again.</source>
        <translation>Kürzung %1 zurückgenommen. Der Server muss etwa %2 Token neu lesen.</translation>
    </message>
    <message>
        <source>Compaction %1 undone. What the server must prefill again is not known.</source>
        <translation>Kürzung %1 zurückgenommen. Was der Server neu lesen muss, ist nicht bekannt.</translation>
    </message>
    <message>
        <source>Profile %1 was not set</source>
        <translation>Profil %1 wurde nicht gesetzt</translation>
    </message>
    <message>
        <source>Episode %1 was not pinned</source>
        <translation>Episode %1 wurde nicht angeheftet</translation>
    </message>
    <message>
        <source>Episode %1 is pinned: no cut evicts it.</source>
        <translation>Episode %1 ist angeheftet: kein Schnitt entfernt sie.</translation>
    </message>
    <message>
        <source>Episode %1 · %2</source>
        <translation>Episode %1 · %2</translation>
    </message>
    <message>
        <source>Episode %1 cannot be read</source>
        <translation>Episode %1 lässt sich nicht lesen</translation>
    </message>
    <message>
        <source>The server was not probed</source>
        <translation>Der Server wurde nicht untersucht</translation>
    </message>
</context>
<context>
    <name>kerf::DockTitle</name>
    <message>
        <source>%1: %2</source>
        <translation>%1: %2</translation>
    </message>
    <message>
        <source>Float or dock</source>
        <translation>Lösen oder andocken</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
</context>
<context>
    <name>kerf::EventsModel</name>
    <message>
        <source>Time</source>
        <translation>Zeit</translation>
    </message>
    <message>
        <source>Kind</source>
        <translation>Art</translation>
    </message>
    <message>
        <source>Slot</source>
        <translation>Slot</translation>
    </message>
    <message>
        <source>Text</source>
        <translation>Text</translation>
    </message>
</context>
<context>
    <name>Evidence</name>
    <message>
        <source>yes</source>
        <translation>ja</translation>
    </message>
    <message>
        <source>no</source>
        <translation>nein</translation>
    </message>
    <message>
        <source>no answer</source>
        <translation>keine Antwort</translation>
    </message>
</context>
<context>
    <name>kerf::EvidenceModel</name>
    <message>
        <source>Claim</source>
        <translation>Aussage</translation>
    </message>
    <message>
        <source>Value</source>
        <translation>Wert</translation>
    </message>
    <message>
        <source>Evidence</source>
        <translation>Nachweis</translation>
    </message>
    <message>
        <source>When</source>
        <translation>Wann</translation>
    </message>
</context>
<context>
    <name>kerf::MainWindow</name>
    <message numerus="yes">
        <source>%n tries</source>
        <translation>
            <numerusform>%n Versuch</numerusform>
            <numerusform>%n Versuche</numerusform>
        </translation>
    </message>
    <message>
        <source>Paused, %1 new</source>
        <translation>Angehalten, %1 neu</translation>
    </message>
    <message>
        <source>&amp;Connect…</source>
        <translation>&amp;Verbinden…</translation>
    </message>
    <message>
        <source>&amp;Disconnect</source>
        <translation>&amp;Trennen</translation>
    </message>
    <message>
        <source>Open &amp;demo</source>
        <translation>&amp;Demo öffnen</translation>
    </message>
    <message>
        <source>The embedded simulation: no server is involved</source>
        <translation>Die eingebettete Simulation: kein Server ist beteiligt</translation>
    </message>
    <message>
        <source>&amp;Quit</source>
        <translation>&amp;Beenden</translation>
    </message>
    <message>
        <source>&amp;New session…</source>
        <translation>&amp;Neue Sitzung…</translation>
    </message>
    <message>
        <source>New session</source>
        <translation>Neue Sitzung</translation>
    </message>
    <message>
        <source>Title</source>
        <translation>Titel</translation>
    </message>
    <message>
        <source>&amp;Refresh</source>
        <translation>&amp;Aktualisieren</translation>
    </message>
    <message>
        <source>&amp;Doctor…</source>
        <translation>&amp;Doktor…</translation>
    </message>
    <message>
        <source>What is known of this server, and on what evidence</source>
        <translation>Was über diesen Server bekannt ist, und mit welchem Nachweis</translation>
    </message>
    <message>
        <source>&amp;Plan</source>
        <translation>&amp;Planen</translation>
    </message>
    <message>
        <source>&amp;Apply</source>
        <translation>&amp;Anwenden</translation>
    </message>
    <message>
        <source>&amp;Undo last compaction</source>
        <translation>Letzte Kürzung &amp;zurücknehmen</translation>
    </message>
    <message>
        <source>Restores the tiers; the server must prefill again what it lost</source>
        <translation>Stellt die Stufen wieder her; der Server muss neu lesen, was er verloren hat</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>Zurücknehmen</translation>
    </message>
    <message>
        <source>Pa&amp;use live views</source>
        <translation>Live-Ansichten an&amp;halten</translation>
    </message>
    <message>
        <source>&amp;Previous compaction</source>
        <translation>&amp;Vorige Kürzung</translation>
    </message>
    <message>
        <source>&amp;Next compaction</source>
        <translation>&amp;Nächste Kürzung</translation>
    </message>
    <message>
        <source>&amp;Present</source>
        <translation>&amp;Gegenwart</translation>
    </message>
    <message>
        <source>Back to the prompt as it stands</source>
        <translation>Zurück zum Prompt, wie er jetzt ist</translation>
    </message>
    <message>
        <source>Next pro&amp;blem</source>
        <translation>Nächstes Pro&amp;blem</translation>
    </message>
    <message>
        <source>Previous problem</source>
        <translation>Voriges Problem</translation>
    </message>
    <message>
        <source>&amp;Back</source>
        <translation>&amp;Zurück</translation>
    </message>
    <message>
        <source>&amp;Forward</source>
        <translation>V&amp;orwärts</translation>
    </message>
    <message>
        <source>&amp;Token…</source>
        <translation>&amp;Token…</translation>
    </message>
    <message>
        <source>Go to token</source>
        <translation>Gehe zu Token</translation>
    </message>
    <message>
        <source>Position in the prompt</source>
        <translation>Position im Prompt</translation>
    </message>
    <message>
        <source>Copy as &amp;text</source>
        <translation>Als &amp;Text kopieren</translation>
    </message>
    <message>
        <source>The view with the focus, as text</source>
        <translation>Die Ansicht mit dem Fokus, als Text</translation>
    </message>
    <message>
        <source>&amp;Full screen</source>
        <translation>&amp;Vollbild</translation>
    </message>
    <message>
        <source>&amp;Reset layout</source>
        <translation>Anordnung zu&amp;rücksetzen</translation>
    </message>
    <message>
        <source>&amp;What is this?</source>
        <translation>&amp;Was ist das?</translation>
    </message>
    <message>
        <source>&amp;Keyboard</source>
        <translation>&amp;Tastatur</translation>
    </message>
    <message>
        <source>Keyboard</source>
        <translation>Tastatur</translation>
    </message>
    <message>
        <source>&amp;About Kerf</source>
        <translation>&amp;Über Kerf</translation>
    </message>
    <message>
        <source>About Kerf</source>
        <translation>Über Kerf</translation>
    </message>
    <message>
        <source>&lt;b&gt;Kerf %1&lt;/b&gt;&lt;p&gt;Where a conversation may be cut so that the KV cache still matches.&lt;/p&gt;&lt;p&gt;Free software under the GNU General Public License, version 3 or later.&lt;/p&gt;</source>
        <translation>&lt;b&gt;Kerf %1&lt;/b&gt;&lt;p&gt;Wo ein Gespräch gekürzt werden darf, damit der KV-Cache noch passt.&lt;/p&gt;&lt;p&gt;Freie Software unter der GNU General Public License, Version 3 oder später.&lt;/p&gt;</translation>
    </message>
    <message>
        <source>&amp;System colours</source>
        <translation>&amp;Systemfarben</translation>
    </message>
    <message>
        <source>&amp;Light</source>
        <translation>&amp;Hell</translation>
    </message>
    <message>
        <source>&amp;Dark</source>
        <translation>&amp;Dunkel</translation>
    </message>
    <message>
        <source>Checkpoint ring</source>
        <translation>Checkpoint-Ring</translation>
    </message>
    <message>
        <source>Checkpoints</source>
        <translation>Checkpoints</translation>
    </message>
    <message>
        <source>Plan with the cut here</source>
        <translation>Mit dem Schnitt an dieser Stelle planen</translation>
    </message>
    <message>
        <source>Show task and age</source>
        <translation>Task und Alter zeigen</translation>
    </message>
    <message>
        <source>Evidence</source>
        <translation>Nachweis</translation>
    </message>
    <message>
        <source>Compactions</source>
        <translation>Kürzungen</translation>
    </message>
    <message>
        <source>Receipt</source>
        <translation>Beleg</translation>
    </message>
    <message>
        <source>Prefill cost</source>
        <translation>Prefill-Kosten</translation>
    </message>
    <message>
        <source>Events</source>
        <translation>Ereignisse</translation>
    </message>
    <message>
        <source>Retained prefix</source>
        <translation>Behaltenes Präfix</translation>
    </message>
    <message>
        <source>slot %1</source>
        <translation>Slot %1</translation>
    </message>
    <message>
        <source>last known state</source>
        <translation>letzter bekannter Stand</translation>
    </message>
    <message>
        <source>compaction %1</source>
        <translation>Kürzung %1</translation>
    </message>
    <message>
        <source>plan</source>
        <translation>Plan</translation>
    </message>
    <message>
        <source>full attention</source>
        <translation>volle Attention</translation>
    </message>
    <message>
        <source>ring not visible</source>
        <translation>Ring nicht sichtbar</translation>
    </message>
    <message>
        <source>simulated</source>
        <translation>simuliert</translation>
    </message>
    <message>
        <source>fit</source>
        <translation>eingepasst</translation>
    </message>
    <message>
        <source>full</source>
        <translation>ganz</translation>
    </message>
    <message>
        <source>Advice: %1</source>
        <translation>Rat: %1</translation>
    </message>
    <message>
        <source>No server was looked at yet.</source>
        <translation>Noch kein Server wurde untersucht.</translation>
    </message>
    <message>
        <source>Backend</source>
        <translation>Backend</translation>
    </message>
    <message>
        <source>asked for: %1</source>
        <translation>verlangt: %1</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>not reported</source>
        <translation>nicht gemeldet</translation>
    </message>
    <message>
        <source>build %1</source>
        <translation>Build %1</translation>
    </message>
    <message>
        <source>Context</source>
        <translation>Kontext</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>Speicher</translation>
    </message>
    <message>
        <source>Ring</source>
        <translation>Ring</translation>
    </message>
    <message>
        <source>visible</source>
        <translation>sichtbar</translation>
    </message>
    <message>
        <source>not visible</source>
        <translation>nicht sichtbar</translation>
    </message>
    <message>
        <source>Chunk reuse</source>
        <translation>Chunk-Wiederverwendung</translation>
    </message>
    <message>
        <source>off</source>
        <translation>aus</translation>
    </message>
    <message>
        <source>not known</source>
        <translation>nicht bekannt</translation>
    </message>
    <message>
        <source>probe: %1</source>
        <translation>Probe: %1</translation>
    </message>
    <message>
        <source>%1 in this session</source>
        <translation>%1 in dieser Sitzung</translation>
    </message>
    <message>
        <source>per compaction · simulated</source>
        <translation>je Kürzung · simuliert</translation>
    </message>
    <message>
        <source>per compaction</source>
        <translation>je Kürzung</translation>
    </message>
    <message>
        <source>%1 against %2</source>
        <translation>%1 gegen %2</translation>
    </message>
    <message>
        <source>Go to this dock; again hides it</source>
        <translation>Zu diesem Dock gehen; noch einmal blendet es aus</translation>
    </message>
    <message>
        <source>Main toolbar</source>
        <translation>Hauptwerkzeugleiste</translation>
    </message>
    <message>
        <source>Connection</source>
        <translation>Verbindung</translation>
    </message>
    <message>
        <source>Session</source>
        <translation>Sitzung</translation>
    </message>
    <message>
        <source>Slot</source>
        <translation>Slot</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>Anhalten</translation>
    </message>
    <message>
        <source>Profile</source>
        <translation>Profil</translation>
    </message>
    <message>
        <source>Eviction profile</source>
        <translation>Kürzungsprofil</translation>
    </message>
    <message>
        <source>&amp;File</source>
        <translation>&amp;Datei</translation>
    </message>
    <message>
        <source>&amp;Edit</source>
        <translation>&amp;Bearbeiten</translation>
    </message>
    <message>
        <source>&amp;View</source>
        <translation>&amp;Ansicht</translation>
    </message>
    <message>
        <source>&amp;Docks</source>
        <translation>&amp;Docks</translation>
    </message>
    <message>
        <source>&amp;Lanes</source>
        <translation>&amp;Spuren</translation>
    </message>
    <message>
        <source>&amp;Go</source>
        <translation>&amp;Gehe zu</translation>
    </message>
    <message>
        <source>&amp;Session</source>
        <translation>&amp;Sitzung</translation>
    </message>
    <message>
        <source>Se&amp;rver</source>
        <translation>Se&amp;rver</translation>
    </message>
    <message>
        <source>&amp;Cut</source>
        <translation>S&amp;chnitt</translation>
    </message>
    <message>
        <source>&amp;Help</source>
        <translation>&amp;Hilfe</translation>
    </message>
    <message>
        <source>%1 – Kerf</source>
        <comment>session</comment>
        <translation>%1 – Kerf</translation>
    </message>
    <message>
        <source>Kerf</source>
        <translation>Kerf</translation>
    </message>
    <message>
        <source>%1 [simulated]</source>
        <translation>%1 [simuliert]</translation>
    </message>
    <message>
        <source>%1 [disconnected]</source>
        <translation>%1 [getrennt]</translation>
    </message>
    <message>
        <source>Plan where to cut. Sends nothing. (F6)</source>
        <translation>Planen, wo geschnitten wird. Sendet nichts. (F6)</translation>
    </message>
    <message>
        <source>Apply the plan (Ctrl+Return)</source>
        <translation>Den Plan anwenden (Strg+Eingabe)</translation>
    </message>
    <message>
        <source>The service is gone since %1.</source>
        <translation>Der Dienst ist seit %1 fort.</translation>
    </message>
    <message>
        <source>%1 does not answer. This is the last known state; Plan and Apply are off.</source>
        <translation>%1 antwortet nicht. Dies ist der letzte bekannte Stand; Planen und Anwenden sind aus.</translation>
    </message>
    <message>
        <source>No answer from %1 since %2.</source>
        <translation>Keine Antwort von %1 seit %2.</translation>
    </message>
    <message>
        <source>%1 Kerf tries again by itself. This is the last known state.</source>
        <translation>%1 Kerf versucht es von selbst wieder. Dies ist der letzte bekannte Stand.</translation>
    </message>
    <message>
        <source>Looking at the server.</source>
        <translation>Der Server wird untersucht.</translation>
    </message>
    <message>
        <source>Health, properties, slots, tokenizer, template.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>SIMULATED</source>
        <translation>SIMULIERT</translation>
    </message>
    <message>
        <source>No server is involved. The embedded backend tests the mechanism; it proves nothing about your server.</source>
        <translation>Kein Server ist beteiligt. Das eingebettete Backend prüft den Mechanismus; es beweist nichts über Ihren Server.</translation>
    </message>
    <message>
        <source>Full attention: no ring is needed.</source>
        <translation>Volle Attention: kein Ring ist nötig.</translation>
    </message>
    <message>
        <source>Every token can be a cut. With --cache-reuse %1, equal runs behind the cut are moved and reused too.</source>
        <translation>An jedem Token kann geschnitten werden. Mit --cache-reuse %1 werden auch gleiche Stücke hinter dem Schnitt verschoben und wiederverwendet.</translation>
    </message>
    <message>
        <source>Every token can be a cut.</source>
        <translation>An jedem Token kann geschnitten werden.</translation>
    </message>
    <message>
        <source>The checkpoint ring is not visible.</source>
        <translation>Der Checkpoint-Ring ist nicht sichtbar.</translation>
    </message>
    <message>
        <source>The server lists no checkpoints and its log is not attached. No reuse is claimed.</source>
        <translation>Der Server nennt keine Checkpoints, und sein Log ist nicht angehängt. Es wird keine Wiederverwendung behauptet.</translation>
    </message>
    <message>
        <source>Not connected</source>
        <translation>Nicht verbunden</translation>
    </message>
    <message>
        <source>Ctrl+K connects</source>
        <translation>Strg+K verbindet</translation>
    </message>
    <message>
        <source>Disconnected · as of %1</source>
        <translation>Getrennt · Stand %1</translation>
    </message>
    <message>
        <source>never</source>
        <translation>nie</translation>
    </message>
    <message>
        <source>Simulated</source>
        <translation>Simuliert</translation>
    </message>
    <message>
        <source>The embedded backend</source>
        <translation>Das eingebettete Backend</translation>
    </message>
    <message>
        <source>Looking…</source>
        <translation>Untersuchung…</translation>
    </message>
    <message>
        <source>Connected</source>
        <translation>Verbunden</translation>
    </message>
    <message>
        <source>Connected · build %1</source>
        <translation>Verbunden · Build %1</translation>
    </message>
    <message>
        <source>Full attention · chunk reuse %1</source>
        <translation>Volle Attention · Chunk-Wiederverwendung %1</translation>
    </message>
    <message>
        <source>Full attention</source>
        <translation>Volle Attention</translation>
    </message>
    <message>
        <source>Checkpointed · ring %1 (%2)</source>
        <translation>Mit Checkpoints · Ring %1 (%2)</translation>
    </message>
    <message>
        <source>seen</source>
        <translation>gesehen</translation>
    </message>
    <message>
        <source>Checkpointed · ring not visible</source>
        <translation>Mit Checkpoints · Ring nicht sichtbar</translation>
    </message>
    <message>
        <source>Memory unknown</source>
        <translation>Speicher unbekannt</translation>
    </message>
    <message>
        <source>Tokens exact</source>
        <translation>Token genau</translation>
    </message>
    <message>
        <source>Tokens estimated (~)</source>
        <translation>Token geschätzt (~)</translation>
    </message>
    <message>
        <source>Counted by the server&apos;s own tokenizer and template.</source>
        <translation>Mit Tokenizer und Template des Servers gezählt.</translation>
    </message>
    <message>
        <source>Estimated: this server does not tokenise.</source>
        <translation>Geschätzt: dieser Server tokenisiert nicht.</translation>
    </message>
    <message>
        <source>Window %1</source>
        <translation>Fenster %1</translation>
    </message>
    <message>
        <source>%1 of %2 tokens</source>
        <translation>%1 von %2 Token</translation>
    </message>
    <message>
        <source>Reuse not counted</source>
        <translation>Wiederverwendung nicht gezählt</translation>
    </message>
    <message>
        <source>Reuse measured %1 · claimed %2</source>
        <translation>Wiederverwendung gemessen %1 · behauptet %2</translation>
    </message>
    <message>
        <source>Share of compactions whose cut the cache matched</source>
        <translation>Anteil der Kürzungen, deren Schnitt zum Cache passte</translation>
    </message>
    <message>
        <source>embedded (simulated)</source>
        <translation>eingebettet (simuliert)</translation>
    </message>
    <message>
        <source>%1 – no answer</source>
        <translation>%1 – keine Antwort</translation>
    </message>
    <message>
        <source>Connect…</source>
        <translation>Verbinden…</translation>
    </message>
    <message>
        <source>Open demo</source>
        <translation>Demo öffnen</translation>
    </message>
    <message>
        <source>Disconnect</source>
        <translation>Trennen</translation>
    </message>
    <message>
        <source>Any slot</source>
        <translation>Beliebiger Slot</translation>
    </message>
    <message>
        <source>Slot %1</source>
        <translation>Slot %1</translation>
    </message>
    <message>
        <source>%1 (modified)</source>
        <translation>%1 (geändert)</translation>
    </message>
    <message>
        <source>Set by the environment variable %1</source>
        <translation>Durch die Umgebungsvariable %1 gesetzt</translation>
    </message>
    <message>
        <source>Eviction profile: %1</source>
        <translation>Kürzungsprofil: %1</translation>
    </message>
    <message>
        <source>No further problem.</source>
        <translation>Kein weiteres Problem.</translation>
    </message>
    <message>
        <source>No earlier problem.</source>
        <translation>Kein früheres Problem.</translation>
    </message>
    <message>
        <source>Copied.</source>
        <translation>Kopiert.</translation>
    </message>
    <message>
        <source>Copied the timeline.</source>
        <translation>Zeitleiste kopiert.</translation>
    </message>
    <message>
        <source>Full prefill</source>
        <translation>Voller Prefill</translation>
    </message>
    <message>
        <source>After this cut the server computes all %1 tokens again, about %2. Apply it?</source>
        <translation>Nach diesem Schnitt berechnet der Server alle %1 Token neu, etwa %2. Anwenden?</translation>
    </message>
    <message>
        <source>Connecting to %1…</source>
        <translation>Verbindung mit %1…</translation>
    </message>
    <message>
        <source>%1 was not opened</source>
        <translation>%1 wurde nicht geöffnet</translation>
    </message>
    <message>
        <source>Connected to %1.</source>
        <translation>Mit %1 verbunden.</translation>
    </message>
</context>
<context>
    <name>kerf::MessageArea</name>
    <message>
        <source>Message</source>
        <translation>Meldung</translation>
    </message>
    <message>
        <source>Dismiss</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>%1 %2</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Numbers</name>
    <message>
        <source>not reported</source>
        <translation>nicht gemeldet</translation>
    </message>
    <message>
        <source>%1 s</source>
        <translation>%1 s</translation>
    </message>
    <message>
        <source>%1 ms</source>
        <translation>%1 ms</translation>
    </message>
    <message>
        <source>%1 %</source>
        <translation>%1 %</translation>
    </message>
    <message>
        <source>%1k</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>kerf::PrefillChart</name>
    <message>
        <source>No compaction here.</source>
        <translation>Hier ist keine Kürzung.</translation>
    </message>
    <message>
        <source>Compaction %1: %2</source>
        <translation>Kürzung %1: %2</translation>
    </message>
    <message>
        <source>%1
reused %2, prefilled %3, %4</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>ms not reported</source>
        <translation>ms nicht gemeldet</translation>
    </message>
    <message>
        <source>%1
predicted %2, %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>~%1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no cost known</source>
        <translation>keine Kosten bekannt</translation>
    </message>
    <message>
        <source>%1
%2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No compaction yet. F6 plans one, Ctrl+Return applies it.</source>
        <translation>Noch keine Kürzung. F6 plant eine, Strg+Eingabe wendet sie an.</translation>
    </message>
    <message>
        <source>%1: predicted %2, measured %3</source>
        <translation>%1: vorhergesagt %2, gemessen %3</translation>
    </message>
    <message>
        <source>cause unknown</source>
        <translation>Ursache unbekannt</translation>
    </message>
    <message>
        <source>tokens</source>
        <translation>Token</translation>
    </message>
    <message>
        <source>ms</source>
        <translation>ms</translation>
    </message>
    <message>
        <source>reused</source>
        <translation>wiederverwendet</translation>
    </message>
    <message>
        <source>prefilled</source>
        <translation>neu gelesen</translation>
    </message>
    <message>
        <source>ms measured</source>
        <translation>ms gemessen</translation>
    </message>
    <message>
        <source>ms predicted</source>
        <translation>ms vorhergesagt</translation>
    </message>
    <message>
        <source>predicted, not met</source>
        <translation>vorhergesagt, nicht erreicht</translation>
    </message>
    <message>
        <source>Prefill cost</source>
        <translation>Prefill-Kosten</translation>
    </message>
    <message>
        <source>Each column is a compaction: tokens the server reused and tokens it had to prefill. The line is the time. Filled marks were measured, hollow ones predicted before the request was sent.</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>Prefill cost, %n compaction(s)</source>
        <translation>
            <numerusform>Prefill-Kosten, %n Kürzung</numerusform>
            <numerusform>Prefill-Kosten, %n Kürzungen</numerusform>
        </translation>
    </message>
    <message>
        <source>%1; the last reused %2 and prefilled %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Compaction</source>
        <translation>Kürzung</translation>
    </message>
    <message>
        <source>Reused</source>
        <translation>Wiederverwendet</translation>
    </message>
    <message>
        <source>Prefilled</source>
        <translation>Neu gelesen</translation>
    </message>
    <message>
        <source>Reuse predicted</source>
        <translation>Wiederverwendung vorhergesagt</translation>
    </message>
    <message>
        <source>Outcome</source>
        <translation>Ausgang</translation>
    </message>
    <message>
        <source>not reported</source>
        <translation>nicht gemeldet</translation>
    </message>
    <message>
        <source>not known</source>
        <translation>nicht bekannt</translation>
    </message>
</context>
<context>
    <name>kerf::ReceiptView</name>
    <message>
        <source>Receipt</source>
        <translation>Beleg</translation>
    </message>
    <message>
        <source>The receipt of the selected compaction: what was decided, predicted and measured, and on what evidence.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1: %2</translation>
    </message>
    <message>
        <source>Compaction %1</source>
        <translation>Kürzung %1</translation>
    </message>
    <message>
        <source>task %1</source>
        <translation>Task %1</translation>
    </message>
    <message>
        <source>%1 %2</source>
        <comment>sign, outcome</comment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Plan</source>
        <translation>Plan</translation>
    </message>
    <message>
        <source>not applied</source>
        <translation>nicht angewandt</translation>
    </message>
    <message>
        <source>predicted</source>
        <translation>vorhergesagt</translation>
    </message>
    <message>
        <source>Turn %1</source>
        <translation>Runde %1</translation>
    </message>
    <message>
        <source>No receipt yet</source>
        <translation>Noch kein Beleg</translation>
    </message>
    <message>
        <source>The first request that is reported makes one.</source>
        <translation>Die erste gemeldete Anfrage erzeugt einen.</translation>
    </message>
    <message>
        <source>simulated</source>
        <translation>simuliert</translation>
    </message>
    <message>
        <source>%1 · simulated</source>
        <translation>%1 · simuliert</translation>
    </message>
    <message>
        <source>Window at turn %1</source>
        <translation>Fenster in Runde %1</translation>
    </message>
    <message>
        <source>%1 %2 %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Verdict</source>
        <translation>Urteil</translation>
    </message>
    <message>
        <source>%1; cache_status %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reason</source>
        <translation>Grund</translation>
    </message>
    <message>
        <source>Cut</source>
        <translation>Schnitt</translation>
    </message>
    <message>
        <source>requested %1, aligned %2; tolerance %3</source>
        <translation>verlangt %1, ausgerichtet %2; Toleranz %3</translation>
    </message>
    <message>
        <source>requested %1, nothing to align to</source>
        <translation>verlangt %1, nichts zum Ausrichten</translation>
    </message>
    <message>
        <source>Retained</source>
        <translation>Behalten</translation>
    </message>
    <message>
        <source>%1 tokens in front of the first change</source>
        <translation>%1 Token vor der ersten Änderung</translation>
    </message>
    <message>
        <source>%1 to %2</source>
        <translation>%1 bis %2</translation>
    </message>
    <message>
        <source>Reused</source>
        <translation>Wiederverwendet</translation>
    </message>
    <message>
        <source>predicted %1 · measured %2</source>
        <translation>vorhergesagt %1 · gemessen %2</translation>
    </message>
    <message>
        <source>predicted %1 · measured %2 · off by %3</source>
        <translation>vorhergesagt %1 · gemessen %2 · um %3 daneben</translation>
    </message>
    <message>
        <source>predicted %1 · not measured yet</source>
        <translation>vorhergesagt %1 · noch nicht gemessen</translation>
    </message>
    <message>
        <source>Prefilled</source>
        <translation>Neu gelesen</translation>
    </message>
    <message>
        <source>predicted %1</source>
        <translation>vorhergesagt %1</translation>
    </message>
    <message>
        <source>Time</source>
        <translation>Zeit</translation>
    </message>
    <message>
        <source>measured %1, no prediction</source>
        <translation>gemessen %1, keine Vorhersage</translation>
    </message>
    <message>
        <source>predicted ~%1</source>
        <translation>vorhergesagt ~%1</translation>
    </message>
    <message>
        <source>not known: nothing was measured yet</source>
        <translation>nicht bekannt: noch nichts wurde gemessen</translation>
    </message>
    <message>
        <source>%1 %2, %3 → %4 tokens</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n episode(s)</source>
        <translation>
            <numerusform>%n Episode</numerusform>
            <numerusform>%n Episoden</numerusform>
        </translation>
    </message>
    <message>
        <source>Evicted</source>
        <translation>Entfernt</translation>
    </message>
    <message>
        <source>nothing</source>
        <translation>nichts</translation>
    </message>
    <message>
        <source>Window</source>
        <translation>Fenster</translation>
    </message>
    <message>
        <source>%1 → %2 tokens, target %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>target missed by %1</source>
        <translation>Ziel um %1 verfehlt</translation>
    </message>
    <message>
        <source>Evidence</source>
        <translation>Nachweis</translation>
    </message>
    <message>
        <source>none</source>
        <translation>keiner</translation>
    </message>
    <message>
        <source>Measured by</source>
        <translation>Gemessen durch</translation>
    </message>
    <message>
        <source>Cause</source>
        <translation>Ursache</translation>
    </message>
    <message>
        <source>Notes</source>
        <translation>Anmerkungen</translation>
    </message>
    <message>
        <source>Cache</source>
        <translation>Cache</translation>
    </message>
    <message>
        <source>not reported</source>
        <translation>nicht gemeldet</translation>
    </message>
    <message>
        <source>Tokenizer</source>
        <translation>Tokenizer</translation>
    </message>
    <message>
        <source>Backend</source>
        <translation>Backend</translation>
    </message>
    <message>
        <source>Amplification</source>
        <translation>Verstärkung</translation>
    </message>
</context>
<context>
    <name>kerf::RetainedPrefixView</name>
    <message>
        <source>Retained prefix</source>
        <translation>Behaltenes Präfix</translation>
    </message>
    <message>
        <source>Token by token: what the slot holds against what would be sent. Equal tokens fold; the red line stands where the first one differs, and the part it is in is named. N goes to the difference, I shows token ids.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing to compare yet.</source>
        <translation>Noch nichts zu vergleichen.</translation>
    </message>
    <message>
        <source>No difference: %1 equal tokens</source>
        <translation>Kein Unterschied: %1 gleiche Token</translation>
    </message>
    <message>
        <source>Nothing is held: all is new</source>
        <translation>Nichts wird gehalten: alles ist neu</translation>
    </message>
    <message>
        <source>All %1 held tokens are equal</source>
        <translation>Alle %1 gehaltenen Token sind gleich</translation>
    </message>
    <message>
        <source>First difference at token %1</source>
        <translation>Erster Unterschied bei Token %1</translation>
    </message>
    <message>
        <source>%1 equal · %2 new or moved</source>
        <translation>%1 gleich · %2 neu oder verschoben</translation>
    </message>
    <message>
        <source>%1 from cache · %2 equal, computed again · %3 new or moved</source>
        <translation>%1 aus dem Cache · %2 gleich, neu berechnet · %3 neu oder verschoben</translation>
    </message>
    <message>
        <source>%1 – %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Episode %1 · %2</source>
        <translation>Episode %1 · %2</translation>
    </message>
    <message>
        <source>Generation prompt</source>
        <translation>Generierungs-Prompt</translation>
    </message>
    <message>
        <source>Tool list</source>
        <translation>Werkzeugliste</translation>
    </message>
    <message>
        <source>Pin</source>
        <translation>Anheftung</translation>
    </message>
    <message>
        <source>Marker of evicted episodes</source>
        <translation>Marke entfernter Episoden</translation>
    </message>
    <message>
        <source>System</source>
        <translation>System</translation>
    </message>
    <message>
        <source>both</source>
        <translation>beide</translation>
    </message>
    <message numerus="yes">
        <source>%1 equal tokens before</source>
        <translation>
            <numerusform>%1 gleiches Token davor</numerusform>
            <numerusform>%1 gleiche Token davor</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 equal tokens end here</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 tokens, all equal</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 more %2 · %3 more %4</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Equal again</source>
        <translation>Wieder gleich</translation>
    </message>
    <message>
        <source>%1 tokens were at %2, now at %3: same text</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>episode %1</source>
        <translation>Episode %1</translation>
    </message>
    <message>
        <source>· %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show token ids (I)</source>
        <translation>Token-Ids zeigen (I)</translation>
    </message>
    <message>
        <source>Copy text</source>
        <translation>Text kopieren</translation>
    </message>
    <message>
        <source>Copy as text</source>
        <translation>Als Text kopieren</translation>
    </message>
    <message>
        <source>Token %1, id %2: %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>not reported</source>
        <translation>nicht gemeldet</translation>
    </message>
    <message>
        <source>Retained prefix: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Retained prefix, %1 against %2: %3. %4</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Position</source>
        <translation>Position</translation>
    </message>
    <message>
        <source>In</source>
        <translation>In</translation>
    </message>
    <message>
        <source>Id</source>
        <translation>Id</translation>
    </message>
    <message>
        <source>Text</source>
        <translation>Text</translation>
    </message>
</context>
<context>
    <name>kerf::StartPage</name>
    <message>
        <source>Start page</source>
        <translation>Startseite</translation>
    </message>
    <message>
        <source>Connect to a server…</source>
        <translation>Mit einem Server verbinden…</translation>
    </message>
    <message>
        <source>A llama-server, or a Kerf service that is running.</source>
        <translation>Ein llama-server oder ein laufender Kerf-Dienst.</translation>
    </message>
    <message>
        <source>Open the demo</source>
        <translation>Die Demo öffnen</translation>
    </message>
    <message>
        <source>The embedded simulation: no server, nothing to install.</source>
        <translation>Die eingebettete Simulation: kein Server, nichts zu installieren.</translation>
    </message>
    <message>
        <source>New session</source>
        <translation>Neue Sitzung</translation>
    </message>
    <message>
        <source>An empty one, to be filled by hand or by a harness.</source>
        <translation>Eine leere, von Hand oder von einem Programm zu füllen.</translation>
    </message>
    <message>
        <source>Copy: kerfd mcp</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Point your harness at this service; its session appears here by itself.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No session yet</source>
        <translation>Noch keine Sitzung</translation>
    </message>
    <message>
        <source>Where would you cut?</source>
        <translation>Wo würden Sie schneiden?</translation>
    </message>
    <message>
        <source>Connected to %1. A session is one conversation: its episodes, its prompt, its compactions.</source>
        <translation>Mit %1 verbunden. Eine Sitzung ist ein Gespräch: seine Episoden, sein Prompt, seine Kürzungen.</translation>
    </message>
    <message>
        <source>Kerf shows where a conversation may be cut so that the server&apos;s KV cache still matches, and proves it with what the server measured.</source>
        <translation>Kerf zeigt, wo ein Gespräch gekürzt werden darf, damit der KV-Cache des Servers noch passt, und belegt es mit dem, was der Server gemessen hat.</translation>
    </message>
</context>
<context>
    <name>kerf::TimelineView</name>
    <message>
        <source>Timeline</source>
        <translation>Zeitleiste</translation>
    </message>
    <message>
        <source>The prompt on a token axis. Each lane says one thing about the same tokens: the checkpoints, what the slot holds, the episodes, what stays of them, what the next request sends, and what each legal cut would cost. Ctrl+wheel zooms, drag selects a range.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Zoom in</source>
        <translation>Vergrößern</translation>
    </message>
    <message>
        <source>Zoom out</source>
        <translation>Verkleinern</translation>
    </message>
    <message>
        <source>Fit</source>
        <translation>Einpassen</translation>
    </message>
    <message>
        <source>Zoom back</source>
        <translation>Voriger Ausschnitt</translation>
    </message>
    <message>
        <source>Zoom to selection</source>
        <translation>Auswahl einpassen</translation>
    </message>
    <message>
        <source>Previous episode</source>
        <translation>Vorige Episode</translation>
    </message>
    <message>
        <source>Next episode</source>
        <translation>Nächste Episode</translation>
    </message>
    <message>
        <source>Centre selection, then fit</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pin episode</source>
        <translation>Episode anheften</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>Token</translation>
    </message>
    <message>
        <source>Checkpoints</source>
        <translation>Checkpoints</translation>
    </message>
    <message>
        <source>Slot %1 holds</source>
        <translation>Slot %1 hält</translation>
    </message>
    <message>
        <source>Slot holds</source>
        <translation>Slot hält</translation>
    </message>
    <message>
        <source>Episodes</source>
        <translation>Episoden</translation>
    </message>
    <message>
        <source>Tier</source>
        <translation>Stufe</translation>
    </message>
    <message>
        <source>Flow</source>
        <translation>Fluss</translation>
    </message>
    <message>
        <source>Sent last</source>
        <translation>Zuletzt gesendet</translation>
    </message>
    <message>
        <source>Sent next</source>
        <translation>Als Nächstes gesendet</translation>
    </message>
    <message>
        <source>Cut ruler</source>
        <translation>Schnittlineal</translation>
    </message>
    <message>
        <source>Session</source>
        <translation>Sitzung</translation>
    </message>
    <message>
        <source>~%1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 tokens</source>
        <translation>%1 Token</translation>
    </message>
    <message>
        <source>not known</source>
        <translation>nicht bekannt</translation>
    </message>
    <message>
        <source>No episodes yet. Point your harness at this service: kerfd mcp</source>
        <translation>Noch keine Episoden. Verbinden Sie Ihr Programm mit diesem Dienst: kerfd mcp</translation>
    </message>
    <message>
        <source>%1 · %2</source>
        <comment>number of checkpoints, source</comment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 in prompt</source>
        <translation>%1 im Prompt</translation>
    </message>
    <message>
        <source>prefill, ms</source>
        <translation>Prefill, ms</translation>
    </message>
    <message>
        <source>prefill, tokens</source>
        <translation>Prefill, Token</translation>
    </message>
    <message>
        <source>tokens</source>
        <translation>Token</translation>
    </message>
    <message>
        <source>cut %1 as requested</source>
        <translation>Schnitt %1 wie verlangt</translation>
    </message>
    <message>
        <source>cut %1</source>
        <translation>Schnitt %1</translation>
    </message>
    <message>
        <source>requested %1</source>
        <translation>verlangt %1</translation>
    </message>
    <message>
        <source>trigger %1 %</source>
        <translation>Auslöser %1 %</translation>
    </message>
    <message>
        <source>target %1 %</source>
        <translation>Ziel %1 %</translation>
    </message>
    <message>
        <source>not visible on this server</source>
        <translation>auf diesem Server nicht sichtbar</translation>
    </message>
    <message>
        <source>not used: any token can be a cut</source>
        <translation>nicht gebraucht: an jedem Token kann geschnitten werden</translation>
    </message>
    <message>
        <source>no checkpoint yet: the server makes them while it works</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>this slot has not run yet</source>
        <translation>dieser Slot ist noch nicht gelaufen</translation>
    </message>
    <message>
        <source>no slot to look at</source>
        <translation>kein Slot, den man ansehen könnte</translation>
    </message>
    <message>
        <source>reused %1</source>
        <translation>wiederverwendet %1</translation>
    </message>
    <message>
        <source>prefilled %1</source>
        <translation>neu gelesen %1</translation>
    </message>
    <message>
        <source>recent %1</source>
        <translation>jüngste %1</translation>
    </message>
    <message>
        <source>kept %1</source>
        <translation>behalten %1</translation>
    </message>
    <message>
        <source>evicted %1</source>
        <translation>entfernt %1</translation>
    </message>
    <message>
        <source>moved %1</source>
        <translation>verschoben %1</translation>
    </message>
    <message>
        <source>new %1</source>
        <translation>neu %1</translation>
    </message>
    <message>
        <source>in the prompt %1</source>
        <translation>im Prompt %1</translation>
    </message>
    <message>
        <source>free %1</source>
        <translation>frei %1</translation>
    </message>
    <message>
        <source>%1 ×%2</source>
        <comment>tier, number of episodes</comment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>reused %1 to %2</source>
        <translation>wiederverwendet %1 bis %2</translation>
    </message>
    <message>
        <source>or up to %1</source>
        <translation>oder bis zu %1</translation>
    </message>
    <message>
        <source>from cache %1</source>
        <translation>aus dem Cache %1</translation>
    </message>
    <message>
        <source>%1 prefilled</source>
        <translation>%1 neu gelesen</translation>
    </message>
    <message>
        <source>target %1 missed by %2</source>
        <translation>Ziel %1 um %2 verfehlt</translation>
    </message>
    <message>
        <source>No plan. Press F6 to see what each legal cut would cost.</source>
        <translation>Kein Plan. F6 zeigt, was jeder erlaubte Schnitt kosten würde.</translation>
    </message>
    <message>
        <source>What the other cuts would have cost is not on record.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What a cut costs is not known on this server.</source>
        <translation>Was ein Schnitt kostet, ist auf diesem Server nicht bekannt.</translation>
    </message>
    <message>
        <source>%1 – %2: %3 tokens</source>
        <translation>%1 – %2: %3 Token</translation>
    </message>
    <message numerus="yes">
        <source>%1, %n episode(s)</source>
        <translation>
            <numerusform>%1, %n Episode</numerusform>
            <numerusform>%1, %n Episoden</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n episode(s)</source>
        <translation>
            <numerusform>%n Episode</numerusform>
            <numerusform>%n Episoden</numerusform>
        </translation>
    </message>
    <message>
        <source>No checkpoint here.</source>
        <translation>Hier ist kein Checkpoint.</translation>
    </message>
    <message>
        <source>Legal cut at %1: %2</source>
        <translation>Erlaubter Schnitt bei %1: %2</translation>
    </message>
    <message>
        <source>%1, %2 reused, %3 prefilled (predicted)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1. Window after it: %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n episode(s), %1 tokens</source>
        <translation>
            <numerusform>%n Episode, %1 Token</numerusform>
            <numerusform>%n Episoden, %1 Token</numerusform>
        </translation>
    </message>
    <message>
        <source>Episode %1, %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Part of the prompt, %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: %2 tokens, %3 – %4</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1. Pinned.</source>
        <translation>%1. Angeheftet.</translation>
    </message>
    <message>
        <source>%1. This cut makes it %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Free.</source>
        <translation>Frei.</translation>
    </message>
    <message>
        <source>Token %1</source>
        <translation>Token %1</translation>
    </message>
    <message>
        <source>Show text</source>
        <translation>Text zeigen</translation>
    </message>
    <message>
        <source>Plan with the cut here</source>
        <translation>Mit dem Schnitt an dieser Stelle planen</translation>
    </message>
    <message>
        <source>Copy as text</source>
        <translation>Als Text kopieren</translation>
    </message>
    <message>
        <source>Lanes</source>
        <translation>Spuren</translation>
    </message>
    <message>
        <source>Timeline, no session open</source>
        <translation>Zeitleiste, keine Sitzung offen</translation>
    </message>
    <message numerus="yes">
        <source>Timeline, %n episode(s) in the prompt</source>
        <translation>
            <numerusform>Zeitleiste, %n Episode im Prompt</numerusform>
            <numerusform>Zeitleiste, %n Episoden im Prompt</numerusform>
        </translation>
    </message>
    <message>
        <source>%1, %2 tokens</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, cut at %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Episode</source>
        <translation>Episode</translation>
    </message>
    <message>
        <source>Role</source>
        <translation>Rolle</translation>
    </message>
    <message>
        <source>Begin</source>
        <translation>Anfang</translation>
    </message>
    <message>
        <source>End</source>
        <translation>Ende</translation>
    </message>
    <message>
        <source>not an episode</source>
        <translation>keine Episode</translation>
    </message>
    <message>
        <source>%1, then %2</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>kerf::VerdictStrip</name>
    <message>
        <source>Verdict</source>
        <translation>Urteil</translation>
    </message>
    <message>
        <source>What the plan, or the selected compaction, means for the cache, and why.</source>
        <translation>Was der Plan oder die gewählte Kürzung für den Cache bedeutet, und warum.</translation>
    </message>
    <message>
        <source>No plan</source>
        <translation>Kein Plan</translation>
    </message>
    <message>
        <source>The window is below its trigger of %1.</source>
        <translation>Das Fenster ist unter seinem Auslöser von %1.</translation>
    </message>
    <message>
        <source>Press F6 to plan a cut. Planning sends nothing.</source>
        <translation>F6 plant einen Schnitt. Planen sendet nichts.</translation>
    </message>
    <message>
        <source>Unpin something, or give the session a larger window.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>reused, last turn</source>
        <translation>wiederverwendet, letzte Runde</translation>
    </message>
    <message>
        <source>prefilled, last turn</source>
        <translation>neu gelesen, letzte Runde</translation>
    </message>
    <message>
        <source>not reported</source>
        <translation>nicht gemeldet</translation>
    </message>
    <message>
        <source>time, last turn</source>
        <translation>Zeit, letzte Runde</translation>
    </message>
    <message numerus="yes">
        <source>The session has moved on by %n episode(s). Plan again (F6).</source>
        <translation>
            <numerusform>Die Sitzung ging um %n Episode weiter. Neu planen (F6).</numerusform>
            <numerusform>Die Sitzung ging um %n Episoden weiter. Neu planen (F6).</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 to %2</source>
        <translation>%1 bis %2</translation>
    </message>
    <message>
        <source>may be reused</source>
        <translation>vielleicht wiederverwendet</translation>
    </message>
    <message>
        <source>reused, measured</source>
        <translation>wiederverwendet, gemessen</translation>
    </message>
    <message>
        <source>reused, predicted</source>
        <translation>wiederverwendet, vorhergesagt</translation>
    </message>
    <message>
        <source>prefilled, measured</source>
        <translation>neu gelesen, gemessen</translation>
    </message>
    <message>
        <source>prefilled, predicted</source>
        <translation>neu gelesen, vorhergesagt</translation>
    </message>
    <message>
        <source>predicted %1</source>
        <translation>vorhergesagt %1</translation>
    </message>
    <message>
        <source>no prediction</source>
        <translation>keine Vorhersage</translation>
    </message>
    <message>
        <source>~%1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>not reported yet</source>
        <translation>noch nicht gemeldet</translation>
    </message>
    <message>
        <source>predicted</source>
        <translation>vorhergesagt</translation>
    </message>
    <message>
        <source>Predicted %1, measured %2: %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>planned</source>
        <translation>geplant</translation>
    </message>
    <message>
        <source>simulated</source>
        <translation>simuliert</translation>
    </message>
    <message>
        <source>%1 %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1
%2
verdict %3, cache_status %4, pairs_with_cache %5</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 %2</source>
        <comment>sign, outcome</comment>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>kerf::WindowBar</name>
    <message>
        <source>Window by part</source>
        <translation>Fenster nach Teilen</translation>
    </message>
    <message>
        <source>system</source>
        <translation>System</translation>
    </message>
    <message>
        <source>tools</source>
        <translation>Werkzeuge</translation>
    </message>
    <message>
        <source>pinned</source>
        <translation>angeheftet</translation>
    </message>
    <message>
        <source>recall</source>
        <translation>Erinnertes</translation>
    </message>
    <message>
        <source>stubs</source>
        <translation>Stummel</translation>
    </message>
    <message>
        <source>folds</source>
        <translation>Faltungen</translation>
    </message>
    <message>
        <source>history</source>
        <translation>Verlauf</translation>
    </message>
    <message>
        <source>other</source>
        <translation>anderes</translation>
    </message>
    <message>
        <source>%1 %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 · %2</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Words</name>
    <message>
        <source>Aligned at %1</source>
        <translation>Ausgerichtet bei %1</translation>
    </message>
    <message>
        <source>Snapped %1 back to %2</source>
        <translation>Um %1 zurück auf %2 gesetzt</translation>
    </message>
    <message>
        <source>Kept %1 more to reach %2</source>
        <translation>%1 mehr behalten, um %2 zu erreichen</translation>
    </message>
    <message>
        <source>Rewinds %1 to %2</source>
        <translation>Geht um %1 auf %2 zurück</translation>
    </message>
    <message>
        <source>Reuses %1</source>
        <translation>Verwendet %1 wieder</translation>
    </message>
    <message>
        <source>Prefix kept, alignment unknown</source>
        <translation>Präfix behalten, Ausrichtung unbekannt</translation>
    </message>
    <message>
        <source>Full prefill: nearest checkpoint is %1 below, tolerance %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Full prefill</source>
        <translation>Voller Prefill</translation>
    </message>
    <message>
        <source>Pins and fixed parts need %1 of %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No cut is needed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>aligned %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>snapped %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>partial-reuse %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no cut</source>
        <translation>kein Schnitt</translation>
    </message>
    <message>
        <source>confirmed</source>
        <translation>bestätigt</translation>
    </message>
    <message>
        <source>better</source>
        <translation>besser</translation>
    </message>
    <message>
        <source>refuted</source>
        <translation>widerlegt</translation>
    </message>
    <message>
        <source>waiting</source>
        <translation>wartet</translation>
    </message>
    <message>
        <source>undone</source>
        <translation>zurückgenommen</translation>
    </message>
    <message>
        <source>not provable</source>
        <translation>nicht beweisbar</translation>
    </message>
    <message>
        <source>in memory</source>
        <translation>im Speicher</translation>
    </message>
    <message>
        <source>save file</source>
        <translation>Sicherungsdatei</translation>
    </message>
    <message>
        <source>fold</source>
        <translation>Faltung</translation>
    </message>
    <message>
        <source>pre-rewrite</source>
        <translation>vor Umschreiben</translation>
    </message>
    <message>
        <source>used</source>
        <translation>benutzt</translation>
    </message>
    <message>
        <source>used: %1</source>
        <translation>benutzt: %1</translation>
    </message>
    <message>
        <source>erased by this cut</source>
        <translation>durch diesen Schnitt gelöscht</translation>
    </message>
    <message>
        <source>below tolerance</source>
        <translation>unter der Toleranz</translation>
    </message>
    <message>
        <source>window not covered</source>
        <translation>Fenster nicht gedeckt</translation>
    </message>
    <message>
        <source>no cut planned</source>
        <translation>kein Schnitt geplant</translation>
    </message>
    <message>
        <source>kept</source>
        <translation>behalten</translation>
    </message>
    <message>
        <source>system</source>
        <translation>System</translation>
    </message>
    <message>
        <source>user</source>
        <translation>Nutzer</translation>
    </message>
    <message>
        <source>assistant</source>
        <translation>Assistent</translation>
    </message>
    <message>
        <source>tool</source>
        <translation>Werkzeug</translation>
    </message>
    <message>
        <source>internal</source>
        <translation>intern</translation>
    </message>
    <message>
        <source>live</source>
        <comment>eviction tier</comment>
        <translation>live</translation>
    </message>
    <message>
        <source>masked</source>
        <comment>eviction tier</comment>
        <translation>maskiert</translation>
    </message>
    <message>
        <source>referenced</source>
        <comment>eviction tier</comment>
        <translation>verwiesen</translation>
    </message>
    <message>
        <source>archived</source>
        <comment>eviction tier</comment>
        <translation>archiviert</translation>
    </message>
    <message>
        <source>dropped</source>
        <comment>eviction tier</comment>
        <translation>verworfen</translation>
    </message>
    <message>
        <source>In-memory checkpoint at %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save file at %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Fold at %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pre-rewrite save at %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, %2 MiB</source>
        <translation>%1, %2 MiB</translation>
    </message>
    <message>
        <source>%1, made by task %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1. Used by this cut: the server restored %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1. Used by this cut.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1. The next request erases it: it lies above the cut.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1. Farther below the cut than the tolerance of %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1. Its attention window does not reach the cut.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Checkpoint ring, no session open</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Checkpoint ring, slot %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Checkpoint ring</source>
        <translation>Checkpoint-Ring</translation>
    </message>
    <message>
        <source>%1 of %2 tokens</source>
        <translation>%1 von %2 Token</translation>
    </message>
    <message>
        <source>%1 tokens</source>
        <translation>%1 Token</translation>
    </message>
    <message>
        <source>cut at %1</source>
        <translation>Schnitt bei %1</translation>
    </message>
    <message numerus="yes">
        <source>%n checkpoint(s)</source>
        <translation>
            <numerusform>%n Checkpoint</numerusform>
            <numerusform>%n Checkpoints</numerusform>
        </translation>
    </message>
    <message>
        <source>ring not visible</source>
        <translation>Ring nicht sichtbar</translation>
    </message>
    <message>
        <source>full attention, no ring needed</source>
        <translation>volle Attention, kein Ring nötig</translation>
    </message>
    <message>
        <source>no checkpoint yet</source>
        <translation>noch kein Checkpoint</translation>
    </message>
    <message>
        <source>this slot has not run yet</source>
        <translation>dieser Slot ist noch nicht gelaufen</translation>
    </message>
    <message>
        <source>no server</source>
        <translation>kein Server</translation>
    </message>
    <message>
        <source>simulated</source>
        <translation>simuliert</translation>
    </message>
    <message>
        <source>last known state</source>
        <translation>letzter bekannter Stand</translation>
    </message>
</context>
<context>
    <name>kerf::Prober</name>
    <message numerus="yes">
        <source>%n slot(s)</source>
        <translation>
            <numerusform>%n Slot</numerusform>
            <numerusform>%n Slots</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Kerf %1, %2, %n session(s)</source>
        <translation>
            <numerusform>Kerf %1, %2, %n Sitzung</numerusform>
            <numerusform>Kerf %1, %2, %n Sitzungen</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>Privacy</name>
    <message numerus="yes">
        <source>%n byte(s), sha256 %1</source>
        <translation>
            <numerusform>%n Byte, sha256 %1</numerusform>
            <numerusform>%n Bytes, sha256 %1</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>kerf::FindPanel</name>
    <message numerus="yes">
        <source>%n found</source>
        <translation>
            <numerusform>%n gefunden</numerusform>
            <numerusform>%n gefunden</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>kerf::ProfileEditor</name>
    <message numerus="yes">
        <source>%n more token(s) kept</source>
        <translation>
            <numerusform>%n Token mehr behalten</numerusform>
            <numerusform>%n Token mehr behalten</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n fewer token(s) kept</source>
        <translation>
            <numerusform>%n Token weniger behalten</numerusform>
            <numerusform>%n Token weniger behalten</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>kerf::Shell</name>
    <message numerus="yes">
        <source>%n episode(s) imported</source>
        <translation>
            <numerusform>%n Episode eingelesen</numerusform>
            <numerusform>%n Episoden eingelesen</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>, %n line(s) skipped</source>
        <translation>
            <numerusform>, %n Zeile übersprungen</numerusform>
            <numerusform>, %n Zeilen übersprungen</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1, %n value(s) changed</source>
        <translation>
            <numerusform>%1, %n Wert geändert</numerusform>
            <numerusform>%1, %n Werte geändert</numerusform>
        </translation>
    </message>
</context>
</TS>
