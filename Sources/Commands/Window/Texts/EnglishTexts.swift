extension WindowLanguage {
  /// The texts in English.
  static let englishTexts: [WindowText: String] = [
    // MARK: Every page

    .title: "Work on device {device}",
    .plainTitle: "Work on this device",
    .language: "Language",
    .toContent: "To the content",
    .lookAgain: "Look again",
    .lookedAt: "Looked at {time}.",
    .back: "Back",
    .noPage: "There is no such page",
    .didNotWork: "That did not work",

    // MARK: The state of the work, in a sentence and a word

    .wordGood: "Good",
    .wordNotYet: "Not yet",
    .wordAttention: "Attention",
    .everything: "Everything is at the office.",
    .waits: "Some of your work is not at the office yet.",
    .underWay: "Your work is under way. The office has not confirmed it yet.",
    .notCertain: "It is not certain whether the office has everything.",
    .wrong: "Something is wrong here. Read below what to do.",
    .noData: "No data from the office is on this device yet.",

    // MARK: Sticks

    .sticksHeading: "Stick",
    .syncWith: "Synchronise with stick {name}",
    .free: "{size} free",
    .noStick: """
    No stick is plugged in. Plug in a stick, and open it once in your file manager. This page looks again by \
    itself.
    """,
    .stickGone: """
    This stick is no longer plugged in, or another stick is in its place. Nothing was done. Look again, and choose \
    a stick.
    """,
    .stillWorks: "Satchel still works with the stick {name}. Wait until that is done.",
    .showWork: "Show how far it is",

    // MARK: A synchronisation while it runs

    .working: "Synchronising with stick {name}",
    .leaveIn: "Leave the stick in. This page looks again by itself.",
    .begun: "It has begun.",
    .asksPassword: "It waits for the password of the keys. Type it in the terminal in which the window was started.",
    .reading: "Reading",
    .applying: "Writing the changes of others into the database",
    .collecting: "Collecting your changes",
    .writing: "Packing your changes",
    .testing: "Testing the size of the stick",
    .percent: "{phase}: {percent} %",
    .nothingBegun: "No synchronisation was started here yet.",

    // MARK: The result of a synchronisation

    .done: "Synchronised with stick {name}",
    .notDone: "The synchronisation with stick {name} is not complete",
    .safe: "You can remove the stick {name}.",
    .notAll: "Not everything was done. Nothing is lost. Read below, or show this page to the office.",
    .rowsCame: "{n} row from the office was written here.|{n} rows from the office were written here.",
    .rowsWent: "{n} row was removed here, as the office says.|{n} rows were removed here, as the office says.",
    .filesCame: "{n} file came from the office.|{n} files came from the office.",
    .nothingCame: "The stick has nothing new from the office.",
    .bundlesWait: """
    {n} bundle from the office is kept here and waits.|{n} bundles from the office are kept here and wait.
    """,
    .changesMet: "{n} of your changes met a change of another person.|{n} of your changes met changes of other people.",
    .filesRefused: """
    {n} file on the stick was refused. It changed nothing here.|{n} files on the stick were refused. They changed \
    nothing here.
    """,
    .workOnStick: "Your work is on the stick. Carry it to the office.",
    .workWasOnStick: "Your work was on the stick already. Carry it to the office.",
    .changesOnStick: "It has {n} change of yours.|It has {n} changes of yours.",
    .filesOnStick: "It has {n} file or photo.|It has {n} files or photos.",
    .filesDidNotFit: """
    {n} file or photo did not fit. A later stick takes it.|{n} files or photos did not fit. A later stick takes \
    them.
    """,
    .partOnStick: "A part of your work is on the stick. The office needs all parts.",
    .nothingToCarry: "There is nothing new to carry to the office.",
    .workNotOnStick: "Your work could not be put on the stick. It is safe on this device.",
    .nextStick: """
    {n} part does not fit on this stick. Plug in the next stick, and synchronise again.|{n} parts do not fit on \
    this stick. Plug in the next stick, and synchronise again.
    """,
    .whyFull: "The stick is full. Take files off it, or use another stick.",
    .whyBadStick: "The stick does not keep what is written on it. Use another stick.",
    .whyNotMounted: "The stick is not plugged in, or not open. Plug it in, and open it once in your file manager.",
    .whyBusy: "Another program works with the data. Save your work there and close it, then synchronise again.",
    .whyNoSpace: """
    The disk of this device is full. Delete files that you do not need. Delete nothing in the folder of Satchel.
    """,
    .whyReadOnly: """
    The stick, or the disk of this device, cannot be written. Move the switch of the stick, or use another stick.
    """,
    .whyPassword: "The password of the keys is missing or wrong. Synchronise again, and type it in the terminal.",
    .whyNewer: "The office uses a newer Satchel. It must be updated on this device first. Inform the office.",
    .whyFingerprint: "This device does not know the office yet. Ask the office for the command to type.",
    .askOffice: "Show these lines to the office.",
    .fullReport: "Full report for the office, in English",

    // MARK: Work that is not at the office

    .lacksHeading: "Not at the office",
    .changesToCarry: "{n} change waits for a stick.|{n} changes wait for a stick.",
    .changesUnconfirmed: """
    {n} change is packed, and the office has not confirmed it yet.|{n} changes are packed, and the office has not \
    confirmed them yet.
    """,
    .exportsUnconfirmed: """
    {n} packed bundle is not confirmed by the office yet.|{n} packed bundles are not confirmed by the office yet.
    """,
    .decisions: """
    {n} decision of yours is not known to be at the office.|{n} decisions of yours are not known to be at the \
    office.
    """,
    .conflictsToReport: """
    The office does not know yet of {n} change that met another one.|The office does not know yet of {n} changes \
    that met others.
    """,
    .filesToCarry: "{n} file or photo waits for a stick.|{n} files or photos wait for a stick.",
    .filesUnconfirmed: """
    {n} file or photo is packed, and the office has not confirmed it yet.|{n} files or photos are packed, and the \
    office has not confirmed them yet.
    """,
    .filesNotCarriable: """
    {n} file or photo cannot be carried: it is missing, too large, or in the wrong place. Ask the office.|{n} \
    files or photos cannot be carried: they are missing, too large, or in the wrong place. Ask the office.
    """,
    .rowsWithoutKey: """
    {n} row has no key and cannot be carried. Inform the office.|{n} rows have no key and cannot be carried. Inform \
    the office.
    """,
    .formerUser: """
    The work of {n} former user of this device waits for a stick.|The work of {n} former users of this device \
    waits for a stick.
    """,
    .carryAgain: """
    The office lost {n} bundle. Carry it there once more.|The office lost {n} bundles. Carry them there once more.
    """,
    .moreSticks: """
    {n} bundle is larger than one stick. Synchronise with the next stick.|{n} bundles are larger than one stick. \
    Synchronise with the next stick.
    """,
    .newKey: """
    {n} new key of this device is not at the office yet. Synchronise with a stick.|{n} new keys of this device are \
    not at the office yet. Synchronise with a stick.
    """,
    .renewing: "The office has not answered this device under its new name yet. Go on with your work.",

    // MARK: Contact with the office

    .contactHeading: "Contact with the office",
    .lastSync: "Last synchronised",
    .lastNews: "Last news from the office",
    .lastConfirmed: "Your work that the office confirmed",
    .never: "never",
    .justNow: "just now",
    .minutesAgo: "{n} minute ago|{n} minutes ago",
    .hoursAgo: "{n} hour ago|{n} hours ago",
    .daysAgo: "{n} day ago|{n} days ago",

    // MARK: Changes that met other changes

    .conflictsHeading: "Changes that met others: {n}",
    .conflictsWords: """
    You and another person changed the same thing. Both values are kept. Let the office know which value is right.
    """,
    .heldChanges: """
    {n} change waits at the office for something else. Usually there is nothing to do.|{n} changes wait at the \
    office for something else. Usually there is nothing to do.
    """,
    .more: "And {n} more.",
    .columnField: "Field",
    .columnBefore: "Before",
    .columnOffice: "At the office",
    .columnDevice: "On this device",
    .noValue: "(empty)",
    .bothChanged: "Both sides changed the same value.",
    .deletedHere: "You deleted it, and another person changed it.",
    .deletedThere: "You changed it, and another person deleted it.",
    .bothMade: "Both sides made a row with the same key.",
    .valueTaken: "Another row has a value that only one row may have.",
    .rowMissing: "A row that belongs to it is missing, or still needed.",
    .notAllowed: "The database does not allow such a row.",
    .notYours: "You may not make this change.",
    .notSeen: "The row does not belong to your area any more.",
    .notRecorded: "A program changed the row, and Satchel did not record it.",
    .unitBroken: "A change that belongs to it could not be accepted.",

    // MARK: Problems and their ways out

    .problemsHeading: "Needs attention",
    .statusFailed: """
    Satchel cannot read the state of this device now. If another program works with the data, save your work there \
    and close it. Then look again. If this stays, inform the office.
    """,
    .isFirst: """
    Plug in the stick from the office, and synchronise. If this device joins with its own data, the office gives \
    you a command to type.
    """,
    .replacedFile: """
    Another program put a new file in the place of the data. Do not work on. Inform the office: the old file must \
    come back, or satchel doctor takes up the new one.
    """,
    .lostFile: """
    The file with the data is gone. Is its card or disk in this device? Put it in, and look again. If not, inform \
    the office: satchel doctor --repair makes it again from what was packed.
    """,
    .damagedFile: """
    The data is damaged. Close the app, and delete nothing. Synchronise with the next stick from the office: it \
    makes the data again.
    """,
    .onTablet: "The data is on a tablet. Connect the tablet, and dock it. This page can carry what was docked before.",
    .notCaptured: """
    A program changed the tables, and some of your work may not be recorded. Inform the office: satchel doctor lists \
    it, and satchel doctor --repair records it.
    """,
    .badTrigger:
      "A part of the app prevents every exchange with the office. Inform the office and the maker of the app.",
    .otherHistory: """
    The office was set back, or there are two offices. Nothing is lost. Go on with your work and with the sticks, \
    and inform the office.
    """,
    .appWrites: """
    Another program writes into the data now. Its newest changes are not counted here. Save your work there, and \
    look again.
    """,
    .stagedBundles: """
    {n} bundle from the office waits to be applied: satchel apply. Ask the office.|{n} bundles from the office \
    wait to be applied: satchel apply. Ask the office.
    """,
    .stuckBundles: """
    {n} bundle from the office could not be applied. Often the app must be updated first. Go on with your work, \
    and inform the office.|{n} bundles from the office could not be applied. Often the app must be updated first. Go \
    on with your work, and inform the office.
    """,
    .failedBundles: """
    {n} bundle from the office was not accepted here. Inform the office.|{n} bundles from the office were not \
    accepted here. Inform the office.
    """,
    .refusedFiles: """
    {n} file from sticks was refused and is kept aside. It changed nothing. Inform the office.|{n} files from sticks \
    were refused and are kept aside. They changed nothing. Inform the office.
    """,
    .incompleteBundles: """
    {n} bundle from the office is not complete. The other sticks bring the rest.|{n} bundles from the office are \
    not complete. The other sticks bring the rest.
    """,
    .filesMissing: """
    {n} file or photo is missing on this device. If you have it, put it back. If it is from others, a later stick \
    brings it.|{n} files or photos are missing on this device. If you have them, put them back. If they are from \
    others, a later stick brings them.
    """,
    .filesHeading: "Files and photos that need you",
    .fileMissing: "{name}: it is not on this device. If you have it, put it back.",
    .fileBlocked: "{name}: a folder or a link is in its place. Remove that.",
    .filePath: "{name}: its name cannot be carried. Give it another name.",
    .fileLarge: "{name}: it is too large to be carried. Make it smaller.",
    .diskFull: """
    The disk of this device is nearly full. Delete files that you do not need. Delete nothing in the folder of \
    Satchel.
    """,
    .longSilence: """
    Nothing came from the office for {n} day. Ask for a stick.|Nothing came from the office for {n} days. Ask for \
    a stick.
    """,
    .wrongClock: "The clock of this device may be wrong. Set it right. If it is right, inform the office.",
    .fewKeys: "Few numbers are left for new rows. Synchronise with the office soon.",
    .otherWarning: "Satchel has a warning. Show the facts below to the office.",
    .onlyHere: "These tables stay on this device, and the office does not get them: {names}.",
    .allFacts: "All facts for the office, in English",

    // MARK: Requests that are refused

    .refused: "Refused",
    .noSession: """
    Open the address that satchel window shows. It works once. For another browser, start the window again.
    """,
    .usedToken: "This address was used already. Start satchel window again.",
    .otherAddress: "This window has only one address, and it is on this machine.",
    .badMethod: "The window does not know this method.",
    .foreignForm: "This form does not come from the pages of this window.",
  ]
}
