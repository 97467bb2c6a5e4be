extension WindowLanguage {
  /// The texts in German.
  static let germanTexts: [WindowText: String] = [
    // MARK: Every page

    .title: "Arbeit auf dem Gerät {device}",
    .plainTitle: "Arbeit auf diesem Gerät",
    .language: "Sprache",
    .toContent: "Zum Inhalt",
    .lookAgain: "Noch einmal nachsehen",
    .lookedAt: "Nachgesehen um {time}.",
    .back: "Zurück",
    .noPage: "Diese Seite gibt es nicht",
    .didNotWork: "Das hat nicht geklappt",

    // MARK: The state of the work, in a sentence and a word

    .wordGood: "Gut",
    .wordNotYet: "Noch nicht",
    .wordAttention: "Achtung",
    .everything: "Alles ist im Büro.",
    .waits: "Ein Teil Ihrer Arbeit ist noch nicht im Büro.",
    .underWay: "Ihre Arbeit ist unterwegs. Das Büro hat sie noch nicht bestätigt.",
    .notCertain: "Es ist nicht sicher, ob das Büro alles hat.",
    .wrong: "Hier stimmt etwas nicht. Lesen Sie unten, was zu tun ist.",
    .noData: "Auf diesem Gerät sind noch keine Daten vom Büro.",

    // MARK: Sticks

    .sticksHeading: "Stick",
    .syncWith: "Mit dem Stick {name} synchronisieren",
    .free: "{size} frei",
    .noStick: """
    Kein Stick ist eingesteckt. Stecken Sie einen Stick ein, und öffnen Sie ihn einmal in Ihrer Dateiverwaltung. \
    Diese Seite sieht von selbst wieder nach.
    """,
    .stickGone: """
    Dieser Stick ist nicht mehr eingesteckt, oder an seinem Platz ist ein anderer. Nichts wurde getan. Sehen Sie \
    noch einmal nach, und wählen Sie einen Stick.
    """,
    .stillWorks: "Satchel arbeitet noch mit dem Stick {name}. Warten Sie, bis das fertig ist.",
    .showWork: "Zeigen, wie weit es ist",

    // MARK: A synchronisation while it runs

    .working: "Abgleich mit dem Stick {name}",
    .leaveIn: "Lassen Sie den Stick stecken. Diese Seite sieht von selbst wieder nach.",
    .begun: "Es hat begonnen.",
    .asksPassword: """
    Das Passwort der Schlüssel fehlt. Tippen Sie es in das Terminal, in dem das Fenster gestartet wurde.
    """,
    .reading: "Lesen",
    .applying: "Änderungen der anderen in die Datenbank schreiben",
    .collecting: "Ihre Änderungen sammeln",
    .writing: "Ihre Änderungen packen",
    .testing: "Größe des Sticks prüfen",
    .percent: "{phase}: {percent} %",
    .nothingBegun: "Hier wurde noch kein Abgleich begonnen.",

    // MARK: The result of a synchronisation

    .done: "Mit dem Stick {name} abgeglichen",
    .notDone: "Der Abgleich mit dem Stick {name} ist nicht vollständig",
    .safe: "Sie können den Stick {name} abziehen.",
    .notAll: "Nicht alles wurde getan. Nichts ist verloren. Lesen Sie unten, oder zeigen Sie dem Büro diese Seite.",
    .rowsCame: "{n} Zeile vom Büro wurde hier geschrieben.|{n} Zeilen vom Büro wurden hier geschrieben.",
    .rowsWent: """
    {n} Zeile wurde hier entfernt, wie das Büro es sagt.|{n} Zeilen wurden hier entfernt, wie das Büro es sagt.
    """,
    .filesCame: "{n} Datei kam vom Büro.|{n} Dateien kamen vom Büro.",
    .nothingCame: "Auf dem Stick ist nichts Neues vom Büro.",
    .bundlesWait: """
    {n} Paket vom Büro wird hier aufbewahrt und wartet.|{n} Pakete vom Büro werden hier aufbewahrt und warten.
    """,
    .changesMet: """
    {n} Ihrer Änderungen traf auf die einer anderen Person.|{n} Ihrer Änderungen trafen auf die anderer Personen.
    """,
    .filesRefused: """
    {n} Datei auf dem Stick wurde abgelehnt. Sie hat hier nichts geändert.|{n} Dateien auf dem Stick wurden \
    abgelehnt. Sie haben hier nichts geändert.
    """,
    .workOnStick: "Ihre Arbeit ist auf dem Stick. Bringen Sie ihn ins Büro.",
    .workWasOnStick: "Ihre Arbeit war schon auf dem Stick. Bringen Sie ihn ins Büro.",
    .changesOnStick: "Darauf ist {n} Änderung von Ihnen.|Darauf sind {n} Änderungen von Ihnen.",
    .filesOnStick: "Darauf ist {n} Datei oder Foto.|Darauf sind {n} Dateien oder Fotos.",
    .filesDidNotFit: """
    {n} Datei oder Foto hat keinen Platz. Ein späterer Stick nimmt das mit.|{n} Dateien oder Fotos haben keinen \
    Platz. Ein späterer Stick nimmt sie mit.
    """,
    .partOnStick: "Ein Teil Ihrer Arbeit ist auf dem Stick. Das Büro braucht alle Teile.",
    .nothingToCarry: "Es gibt nichts Neues ins Büro zu bringen.",
    .workNotOnStick: "Ihre Arbeit konnte nicht auf den Stick. Sie ist auf diesem Gerät sicher.",
    .nextStick: """
    {n} Teil passt nicht auf diesen Stick. Stecken Sie den nächsten ein, und gleichen Sie noch einmal ab.|{n} \
    Teile passen nicht auf diesen Stick. Stecken Sie den nächsten ein, und gleichen Sie noch einmal ab.
    """,
    .whyFull: "Der Stick ist voll. Nehmen Sie Dateien herunter, oder nehmen Sie einen anderen Stick.",
    .whyBadStick: "Der Stick behält nicht, was darauf geschrieben wird. Nehmen Sie einen anderen Stick.",
    .whyNotMounted: """
    Der Stick ist nicht eingesteckt oder nicht geöffnet. Stecken Sie ihn ein, und öffnen Sie ihn einmal in Ihrer \
    Dateiverwaltung.
    """,
    .whyBusy: """
    Ein anderes Programm arbeitet mit den Daten. Speichern Sie dort, schließen Sie es, und gleichen Sie dann noch \
    einmal ab.
    """,
    .whyNoSpace: """
    Der Speicher dieses Geräts ist voll. Löschen Sie Dateien, die Sie nicht brauchen. Löschen Sie nichts im Ordner \
    von Satchel.
    """,
    .whyReadOnly: """
    Auf den Stick oder den Speicher dieses Geräts kann nicht geschrieben werden. Schieben Sie den Schalter des \
    Sticks um, oder nehmen Sie einen anderen Stick.
    """,
    .whyPassword: """
    Das Passwort der Schlüssel fehlt oder ist falsch. Gleichen Sie noch einmal ab, und tippen Sie es in das \
    Terminal.
    """,
    .whyNewer: """
    Das Büro hat ein neueres Satchel. Es muss erst auf diesem Gerät erneuert werden. Sagen Sie es dem Büro.
    """,
    .whyFingerprint: "Dieses Gerät kennt das Büro noch nicht. Fragen Sie das Büro nach dem Befehl zum Tippen.",
    .askOffice: "Zeigen Sie diese Zeilen dem Büro.",
    .fullReport: "Ganzer Bericht für das Büro, auf Englisch",

    // MARK: Work that is not at the office

    .lacksHeading: "Was nicht im Büro ist",
    .changesToCarry: "{n} Änderung wartet auf einen Stick.|{n} Änderungen warten auf einen Stick.",
    .changesUnconfirmed: """
    {n} Änderung ist gepackt, und das Büro hat sie noch nicht bestätigt.|{n} Änderungen sind gepackt, und das Büro \
    hat sie noch nicht bestätigt.
    """,
    .exportsUnconfirmed: """
    {n} gepacktes Paket ist vom Büro noch nicht bestätigt.|{n} gepackte Pakete sind vom Büro noch nicht bestätigt.
    """,
    .decisions: """
    Von {n} Ihrer Entscheidungen ist nicht bekannt, ob sie im Büro ist.|Von {n} Ihrer Entscheidungen ist nicht \
    bekannt, ob sie im Büro sind.
    """,
    .conflictsToReport: """
    Das Büro weiß noch nicht, dass {n} Änderung auf eine andere traf.|Das Büro weiß noch nicht, dass {n} \
    Änderungen auf andere trafen.
    """,
    .filesToCarry: "{n} Datei oder Foto wartet auf einen Stick.|{n} Dateien oder Fotos warten auf einen Stick.",
    .filesUnconfirmed: """
    {n} Datei oder Foto ist gepackt, und das Büro hat sie noch nicht bestätigt.|{n} Dateien oder Fotos sind \
    gepackt, und das Büro hat sie noch nicht bestätigt.
    """,
    .filesNotCarriable: """
    {n} Datei oder Foto kann nicht mit: sie fehlt, ist zu groß oder am falschen Platz. Fragen Sie das Büro.|{n} \
    Dateien oder Fotos können nicht mit: sie fehlen, sind zu groß oder am falschen Platz. Fragen Sie das Büro.
    """,
    .rowsWithoutKey: """
    {n} Zeile hat keinen Schlüssel und kann nicht mit. Sagen Sie es dem Büro.|{n} Zeilen haben keinen Schlüssel \
    und können nicht mit. Sagen Sie es dem Büro.
    """,
    .formerUser: """
    Die Arbeit von {n} früheren Person auf diesem Gerät wartet auf einen Stick.|Die Arbeit von {n} früheren \
    Personen auf diesem Gerät wartet auf einen Stick.
    """,
    .carryAgain: """
    Das Büro hat {n} Paket verloren. Bringen Sie es noch einmal hin.|Das Büro hat {n} Pakete verloren. Bringen Sie \
    sie noch einmal hin.
    """,
    .moreSticks: """
    {n} Paket ist größer als ein Stick. Gleichen Sie mit dem nächsten Stick ab.|{n} Pakete sind größer als ein \
    Stick. Gleichen Sie mit dem nächsten Stick ab.
    """,
    .newKey: """
    {n} neuer Schlüssel dieses Geräts ist noch nicht im Büro. Gleichen Sie mit einem Stick ab.|{n} neue Schlüssel \
    dieses Geräts sind noch nicht im Büro. Gleichen Sie mit einem Stick ab.
    """,
    .renewing: "Das Büro hat diesem Gerät unter seinem neuen Namen noch nicht geantwortet. Arbeiten Sie weiter.",

    // MARK: Contact with the office

    .contactHeading: "Verbindung zum Büro",
    .lastSync: "Zuletzt abgeglichen",
    .lastNews: "Zuletzt Neues vom Büro",
    .lastConfirmed: "Ihre Arbeit, die das Büro bestätigt hat",
    .never: "nie",
    .justNow: "gerade eben",
    .minutesAgo: "vor {n} Minute|vor {n} Minuten",
    .hoursAgo: "vor {n} Stunde|vor {n} Stunden",
    .daysAgo: "vor {n} Tag|vor {n} Tagen",

    // MARK: Changes that met other changes

    .conflictsHeading: "Änderungen, die auf andere trafen: {n}",
    .conflictsWords: """
    Sie und eine andere Person haben dasselbe geändert. Beide Werte werden aufbewahrt. Sagen Sie dem Büro, welcher \
    richtig ist.
    """,
    .heldChanges: """
    {n} Änderung wartet im Büro auf etwas anderes. Meist ist nichts zu tun.|{n} Änderungen warten im Büro auf \
    etwas anderes. Meist ist nichts zu tun.
    """,
    .more: "Und {n} weitere.",
    .columnField: "Was",
    .columnBefore: "Vorher",
    .columnOffice: "Im Büro",
    .columnDevice: "Auf diesem Gerät",
    .noValue: "(leer)",
    .bothChanged: "Beide Seiten haben denselben Wert geändert.",
    .deletedHere: "Sie haben es gelöscht, und eine andere Person hat es geändert.",
    .deletedThere: "Sie haben es geändert, und eine andere Person hat es gelöscht.",
    .bothMade: "Beide Seiten haben eine Zeile mit demselben Schlüssel angelegt.",
    .valueTaken: "Eine andere Zeile hat einen Wert, den nur eine Zeile haben darf.",
    .rowMissing: "Eine Zeile, die dazugehört, fehlt oder wird noch gebraucht.",
    .notAllowed: "Die Datenbank lässt eine solche Zeile nicht zu.",
    .notYours: "Sie dürfen diese Änderung nicht machen.",
    .notSeen: "Die Zeile gehört nicht mehr zu Ihrem Gebiet.",
    .notRecorded: "Ein Programm hat die Zeile geändert, und Satchel hat es nicht aufgezeichnet.",
    .unitBroken: "Eine Änderung, die dazugehört, konnte nicht angenommen werden.",

    // MARK: Problems and their ways out

    .problemsHeading: "Was Aufmerksamkeit braucht",
    .statusFailed: """
    Satchel kann den Zustand dieses Geräts gerade nicht lesen. Arbeitet ein anderes Programm mit den Daten, \
    speichern Sie dort und schließen Sie es. Sehen Sie dann noch einmal nach. Bleibt es so, sagen Sie es dem Büro.
    """,
    .isFirst: """
    Stecken Sie den Stick vom Büro ein, und gleichen Sie ab. Bringt dieses Gerät eigene Daten mit, gibt Ihnen das \
    Büro einen Befehl zum Tippen.
    """,
    .replacedFile: """
    Ein anderes Programm hat eine neue Datei an den Platz der Daten gelegt. Arbeiten Sie nicht weiter. Sagen Sie \
    es dem Büro: Die alte Datei muss zurück, oder satchel doctor übernimmt die neue.
    """,
    .lostFile: """
    Die Datei mit den Daten ist weg. Ist ihre Karte oder Platte im Gerät? Stecken Sie sie ein, und sehen Sie noch \
    einmal nach. Wenn nicht, sagen Sie es dem Büro: satchel doctor --repair macht sie aus dem Gepackten neu.
    """,
    .damagedFile: """
    Die Daten sind beschädigt. Schließen Sie die App, und löschen Sie nichts. Gleichen Sie mit dem nächsten Stick \
    vom Büro ab: Er macht die Daten neu.
    """,
    .onTablet: """
    Die Daten sind auf einem Tablet. Schließen Sie das Tablet an, und docken Sie es (satchel dock). Diese Seite \
    kann mitnehmen, was vorher gedockt wurde.
    """,
    .notCaptured: """
    Ein Programm hat die Tabellen geändert, und ein Teil Ihrer Arbeit ist vielleicht nicht aufgezeichnet. Sagen \
    Sie es dem Büro: satchel doctor zeigt es, und satchel doctor --repair zeichnet es auf.
    """,
    .badTrigger: """
    Ein Teil der App verhindert jeden Austausch mit dem Büro. Sagen Sie es dem Büro und dem Hersteller der App.
    """,
    .otherHistory: """
    Das Büro wurde auf einen alten Zustand zurückgesetzt, oder es gibt zwei Büros. Nichts ist verloren. Arbeiten \
    Sie weiter, auch mit den Sticks, und sagen Sie es dem Büro.
    """,
    .appWrites: """
    Ein anderes Programm schreibt gerade in die Daten. Seine neuesten Änderungen sind hier nicht gezählt. \
    Speichern Sie dort, und sehen Sie noch einmal nach.
    """,
    .stagedBundles: """
    {n} Paket vom Büro wartet darauf, übernommen zu werden: satchel apply. Fragen Sie das Büro.|{n} Pakete vom \
    Büro warten darauf, übernommen zu werden: satchel apply. Fragen Sie das Büro.
    """,
    .stuckBundles: """
    {n} Paket vom Büro konnte nicht übernommen werden. Oft muss erst die App erneuert werden. Arbeiten Sie weiter, \
    und sagen Sie es dem Büro.|{n} Pakete vom Büro konnten nicht übernommen werden. Oft muss erst die App erneuert \
    werden. Arbeiten Sie weiter, und sagen Sie es dem Büro.
    """,
    .failedBundles: """
    {n} Paket vom Büro wurde hier nicht angenommen. Sagen Sie es dem Büro.|{n} Pakete vom Büro wurden hier nicht \
    angenommen. Sagen Sie es dem Büro.
    """,
    .refusedFiles: """
    {n} Datei von Sticks wurde abgelehnt und beiseitegelegt. Sie hat nichts geändert. Sagen Sie es dem Büro.|{n} \
    Dateien von Sticks wurden abgelehnt und beiseitegelegt. Sie haben nichts geändert. Sagen Sie es dem Büro.
    """,
    .incompleteBundles: """
    {n} Paket vom Büro ist nicht vollständig. Die anderen Sticks bringen den Rest.|{n} Pakete vom Büro sind nicht \
    vollständig. Die anderen Sticks bringen den Rest.
    """,
    .filesMissing: """
    {n} Datei oder Foto fehlt auf diesem Gerät. Haben Sie sie, legen Sie sie zurück. Ist sie von anderen, bringt \
    sie ein späterer Stick.|{n} Dateien oder Fotos fehlen auf diesem Gerät. Haben Sie sie, legen Sie sie zurück. \
    Sind sie von anderen, bringt sie ein späterer Stick.
    """,
    .filesHeading: "Dateien und Fotos, die Sie brauchen",
    .fileMissing: "{name}: fehlt auf diesem Gerät. Haben Sie die Datei, legen Sie sie zurück.",
    .fileBlocked: "{name}: An ihrem Platz ist ein Ordner oder eine Verknüpfung. Entfernen Sie das.",
    .filePath: "{name}: Mit diesem Namen kann die Datei nicht mit. Geben Sie ihr einen anderen Namen.",
    .fileLarge: "{name}: zu groß zum Mitnehmen. Machen Sie die Datei kleiner.",
    .diskFull: """
    Der Speicher dieses Geräts ist fast voll. Löschen Sie Dateien, die Sie nicht brauchen. Löschen Sie nichts im \
    Ordner von Satchel.
    """,
    .longSilence: """
    Seit {n} Tag kam nichts vom Büro. Bitten Sie um einen Stick.|Seit {n} Tagen kam nichts vom Büro. Bitten Sie um \
    einen Stick.
    """,
    .wrongClock: """
    Die Uhr dieses Geräts geht vielleicht falsch. Stellen Sie sie richtig. Geht sie richtig, sagen Sie es dem \
    Büro.
    """,
    .fewKeys: "Für neue Zeilen sind nur noch wenige Nummern frei. Gleichen Sie bald mit dem Büro ab.",
    .otherWarning: "Satchel hat eine Warnung. Zeigen Sie dem Büro die Angaben unten.",
    .onlyHere: "Diese Tabellen bleiben auf diesem Gerät, und das Büro bekommt sie nicht: {names}.",
    .allFacts: "Alle Angaben für das Büro, auf Englisch",

    // MARK: Requests that are refused

    .refused: "Abgelehnt",
    .noSession: """
    Öffnen Sie die Adresse, die satchel window zeigt. Sie gilt einmal. Für einen anderen Browser starten Sie das \
    Fenster neu.
    """,
    .usedToken: "Diese Adresse wurde schon benutzt. Starten Sie satchel window neu.",
    .otherAddress: "Dieses Fenster hat nur eine Adresse, und sie ist auf diesem Rechner.",
    .badMethod: "Das Fenster kennt diese Methode nicht.",
    .foreignForm: "Dieses Formular kommt nicht von den Seiten dieses Fensters.",
  ]
}
