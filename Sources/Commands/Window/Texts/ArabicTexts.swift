extension WindowLanguage {
  /// The texts in Arabic. A text with a number has five forms: see `form(for:)`.
  static let arabicTexts: [WindowText: String] = [
    // MARK: Every page

    .title: "العمل على الجهاز {device}",
    .plainTitle: "العمل على هذا الجهاز",
    .language: "اللغة",
    .toContent: "إلى المحتوى",
    .lookAgain: "تحقق مرة أخرى",
    .lookedAt: "آخر تحقق: {time}.",
    .back: "رجوع",
    .noPage: "لا توجد صفحة كهذه",
    .didNotWork: "لم ينجح ذلك",

    // MARK: The state of the work, in a sentence and a word

    .wordGood: "جيد",
    .wordNotYet: "ليس بعد",
    .wordAttention: "انتباه",
    .everything: "كل شيء موجود في المكتب.",
    .waits: "جزء من عملك ليس في المكتب بعد.",
    .underWay: "عملك في الطريق. لم يؤكده المكتب بعد.",
    .notCertain: "ليس مؤكدًا أن كل شيء موجود في المكتب.",
    .wrong: "هناك خلل هنا. اقرأ في الأسفل ما يجب فعله.",
    .noData: "لا توجد بعد بيانات من المكتب على هذا الجهاز.",

    // MARK: Sticks

    .sticksHeading: "ذاكرة USB",
    .syncWith: "مزامنة مع الذاكرة {name}",
    .free: "المساحة الحرة: {size}",
    .noStick: """
    لا توجد ذاكرة USB موصولة. صِل ذاكرة وافتحها مرة واحدة في مدير الملفات. هذه الصفحة تتحقق مرة أخرى من تلقاء نفسها.
    """,
    .stickGone: """
    هذه الذاكرة لم تعد موصولة، أو توجد ذاكرة أخرى في مكانها. لم يُنفَّذ شيء. تحقق مرة أخرى واختر ذاكرة.
    """,
    .stillWorks: "ما زال Satchel يعمل مع الذاكرة {name}. انتظر حتى ينتهي.",
    .showWork: "عرض مدى التقدم",

    // MARK: A synchronisation while it runs

    .working: "تجري المزامنة مع الذاكرة {name}",
    .leaveIn: "اترك الذاكرة موصولة. هذه الصفحة تتحقق مرة أخرى من تلقاء نفسها.",
    .begun: "بدأت المزامنة.",
    .asksPassword: "كلمة مرور المفاتيح مطلوبة. اكتبها في الطرفية التي بدأت منها النافذة.",
    .reading: "القراءة",
    .applying: "كتابة تغييرات الآخرين في قاعدة البيانات",
    .collecting: "جمع تغييراتك",
    .writing: "حزم تغييراتك",
    .testing: "فحص حجم الذاكرة",
    .percent: "{phase}: {percent} %",
    .nothingBegun: "لم تبدأ هنا أي مزامنة بعد.",

    // MARK: The result of a synchronisation

    .done: "تمت المزامنة مع الذاكرة {name}",
    .notDone: "المزامنة مع الذاكرة {name} غير مكتملة",
    .safe: "يمكنك نزع الذاكرة {name}.",
    .notAll: "لم يُنجَز كل شيء. لم يُفقد شيء. اقرأ في الأسفل، أو اعرض هذه الصفحة على المكتب.",
    .rowsCame: counted("كُتب هنا من المكتب: ", Noun.row, then: "."),
    .rowsWent: counted("أُزيل من هنا بطلب من المكتب: ", Noun.row, then: "."),
    .filesCame: counted("وصل من المكتب: ", Noun.file, then: "."),
    .nothingCame: "لا جديد من المكتب على الذاكرة.",
    .bundlesWait: counted("محفوظ هنا من المكتب وينتظر: ", Noun.bundle, then: "."),
    .changesMet: counted("من تغييراتك ما التقى بتغييرات أشخاص آخرين: ", Noun.change, then: "."),
    .filesRefused: counted("رُفض من الذاكرة: ", Noun.file, then: ". لم يتغير شيء هنا بسبب ذلك."),
    .workOnStick: "عملك على الذاكرة. احملها إلى المكتب.",
    .workWasOnStick: "كان عملك على الذاكرة من قبل. احملها إلى المكتب.",
    .changesOnStick: counted("عليها من عملك: ", Noun.change, then: "."),
    .filesOnStick: counted("عليها من الملفات والصور: ", Noun.file, then: "."),
    .filesDidNotFit: counted("لم تتسع لما يلي من الملفات والصور: ", Noun.file, then: ". ستحمله ذاكرة لاحقة."),
    .partOnStick: "جزء من عملك على الذاكرة. يحتاج المكتب إلى كل الأجزاء.",
    .nothingToCarry: "لا جديد يُحمل إلى المكتب.",
    .workNotOnStick: "تعذر وضع عملك على الذاكرة. هو محفوظ على هذا الجهاز.",
    .nextStick: counted("لا تتسع هذه الذاكرة لما بقي: ", Noun.part, then: ". صِل الذاكرة التالية وزامن مرة أخرى."),
    .whyFull: "الذاكرة ممتلئة. احذف منها ملفات، أو استعمل ذاكرة أخرى.",
    .whyBadStick: "الذاكرة لا تحفظ ما يُكتب عليها. استعمل ذاكرة أخرى.",
    .whyNotMounted: "الذاكرة غير موصولة أو غير مفتوحة. صِلها وافتحها مرة واحدة في مدير الملفات.",
    .whyBusy: "برنامج آخر يعمل على البيانات. احفظ عملك فيه وأغلقه، ثم زامن مرة أخرى.",
    .whyNoSpace: "قرص هذا الجهاز ممتلئ. احذف ملفات لا تحتاج إليها. لا تحذف شيئًا من مجلد Satchel.",
    .whyReadOnly: "لا يمكن الكتابة على الذاكرة أو على قرص هذا الجهاز. حرّك قفل الذاكرة، أو استعمل ذاكرة أخرى.",
    .whyPassword: "كلمة مرور المفاتيح ناقصة أو خاطئة. زامن مرة أخرى واكتبها في الطرفية.",
    .whyNewer: "يستعمل المكتب إصدارًا أحدث من Satchel. يجب تحديثه أولًا على هذا الجهاز. أخبر المكتب.",
    .whyFingerprint: "هذا الجهاز لا يعرف المكتب بعد. اطلب من المكتب الأمر الذي يجب كتابته.",
    .askOffice: "اعرض هذه السطور على المكتب.",
    .fullReport: "التقرير الكامل للمكتب، بالإنجليزية",

    // MARK: Work that is not at the office

    .lacksHeading: "ما ليس في المكتب",
    .changesToCarry: counted("بانتظار ذاكرة USB: ", Noun.change, then: "."),
    .changesUnconfirmed: counted("محزوم، ولم يؤكده المكتب بعد: ", Noun.change, then: "."),
    .exportsUnconfirmed: counted("لم يؤكد المكتب بعد: ", Noun.bundle, then: "."),
    .decisions: counted("ليس معروفًا أنه وصل إلى المكتب من قراراتك: ", Noun.decision, then: "."),
    .conflictsToReport: counted("لا يعرف المكتب بعد بما التقى بتغييرات أخرى: ", Noun.change, then: "."),
    .filesToCarry: counted("ملفات أو صور بانتظار ذاكرة USB: ", Noun.file, then: "."),
    .filesUnconfirmed: counted("ملفات أو صور محزومة لم يؤكدها المكتب بعد: ", Noun.file, then: "."),
    .filesNotCarriable: counted(
      "ملفات أو صور لا يمكن حملها، لأنها ناقصة أو كبيرة جدًا أو في غير مكانها: ", Noun.file, then: ". اسأل المكتب."),
    .rowsWithoutKey: counted("بلا مفتاح، ولا يمكن حمله: ", Noun.row, then: ". أخبر المكتب."),
    .formerUser: counted("عمل مستخدمين سابقين لهذا الجهاز بانتظار ذاكرة USB: ", Noun.user, then: "."),
    .carryAgain: counted("فقده المكتب: ", Noun.bundle, then: ". احمله إلى المكتب مرة أخرى."),
    .moreSticks: counted("أكبر من ذاكرة واحدة: ", Noun.bundle, then: ". زامن مع الذاكرة التالية."),
    .newKey: counted("ليس في المكتب بعد من مفاتيح هذا الجهاز الجديدة: ", Noun.key, then: ". زامن مع ذاكرة."),
    .renewing: "لم يجب المكتب هذا الجهاز باسمه الجديد بعد. واصل عملك.",

    // MARK: Contact with the office

    .contactHeading: "الاتصال بالمكتب",
    .lastSync: "آخر مزامنة",
    .lastNews: "آخر جديد من المكتب",
    .lastConfirmed: "عملك الذي أكده المكتب",
    .never: "لم يحدث بعد",
    .justNow: "الآن",
    .minutesAgo: "قبل دقيقة واحدة|قبل دقيقتين|قبل {n} دقائق|قبل {n} دقيقة|قبل {n} دقيقة",
    .hoursAgo: "قبل ساعة واحدة|قبل ساعتين|قبل {n} ساعات|قبل {n} ساعة|قبل {n} ساعة",
    .daysAgo: "قبل يوم واحد|قبل يومين|قبل {n} أيام|قبل {n} يومًا|قبل {n} يوم",

    // MARK: Changes that met other changes

    .conflictsHeading: "تغييرات التقت بتغييرات أخرى: {n}",
    .conflictsWords: "أنت وشخص آخر غيّرتما الشيء نفسه. القيمتان محفوظتان. أخبر المكتب أي قيمة هي الصحيحة.",
    .heldChanges: counted("ينتظر في المكتب شيئًا آخر: ", Noun.change, then: ". في العادة لا يلزم فعل شيء."),
    .more: "والباقي: {n}.",
    .columnField: "الحقل",
    .columnBefore: "من قبل",
    .columnOffice: "في المكتب",
    .columnDevice: "على هذا الجهاز",
    .noValue: "(فارغ)",
    .bothChanged: "غيّر الطرفان القيمة نفسها.",
    .deletedHere: "أنت حذفته، وشخص آخر غيّره.",
    .deletedThere: "أنت غيّرته، وشخص آخر حذفه.",
    .bothMade: "أنشأ الطرفان صفًا بالمفتاح نفسه.",
    .valueTaken: "في صف آخر قيمة لا تجوز إلا في صف واحد.",
    .rowMissing: "صف مرتبط به ناقص، أو ما زال مطلوبًا.",
    .notAllowed: "قاعدة البيانات لا تسمح بصف كهذا.",
    .notYours: "لا يحق لك إجراء هذا التغيير.",
    .notSeen: "لم يعد الصف تابعًا لمنطقتك.",
    .notRecorded: "غيّر برنامج هذا الصف، ولم يسجله Satchel.",
    .unitBroken: "تعذر قبول تغيير مرتبط به.",

    // MARK: Problems and their ways out

    .problemsHeading: "ما يحتاج إلى انتباهك",
    .statusFailed: """
    لا يستطيع Satchel قراءة حالة هذا الجهاز الآن. إذا كان برنامج آخر يعمل على البيانات، فاحفظ عملك فيه وأغلقه. ثم تحقق \
    مرة أخرى. إذا استمر ذلك، فأخبر المكتب.
    """,
    .isFirst: "صِل الذاكرة التي من المكتب وزامن. إذا كانت لهذا الجهاز بيانات خاصة به، فالمكتب يعطيك أمرًا تكتبه.",
    .replacedFile: """
    وضع برنامج آخر ملفًا جديدًا مكان البيانات. لا تواصل العمل. أخبر المكتب: يجب أن يعود الملف القديم، أو أن يأخذ \
    satchel doctor الملف الجديد.
    """,
    .lostFile: """
    ملف البيانات غير موجود. هل بطاقته أو قرصه في هذا الجهاز؟ صِله وتحقق مرة أخرى. وإلا فأخبر المكتب: الأمر \
    satchel doctor --repair ينشئه من جديد مما حُزم.
    """,
    .damagedFile: """
    البيانات تالفة. أغلق التطبيق ولا تحذف شيئًا. زامن مع الذاكرة التالية من المكتب: هي تنشئ البيانات من جديد.
    """,
    .onTablet: """
    البيانات على جهاز لوحي. صِل الجهاز اللوحي واربطه (satchel dock). يمكن لهذه الصفحة حمل ما رُبط من قبل.
    """,
    .notCaptured: """
    غيّر برنامج الجداول، وربما لم يُسجَّل جزء من عملك. أخبر المكتب: الأمر satchel doctor يعرضه، والأمر \
    satchel doctor --repair يسجله.
    """,
    .badTrigger: "جزء من التطبيق يمنع كل تبادل مع المكتب. أخبر المكتب وصانع التطبيق.",
    .otherHistory: """
    أُعيد المكتب إلى حالة قديمة، أو يوجد مكتبان. لم يُفقد شيء. واصل عملك واستعمال الذاكرات، وأخبر المكتب.
    """,
    .appWrites: "برنامج آخر يكتب الآن في البيانات. أحدث تغييراته غير محسوبة هنا. احفظ عملك فيه وتحقق مرة أخرى.",
    .stagedBundles: counted("من المكتب، بانتظار التطبيق (satchel apply): ", Noun.bundle, then: ". اسأل المكتب."),
    .stuckBundles: counted(
      "من المكتب، وتعذر تطبيقه: ", Noun.bundle,
      then: ". كثيرًا ما يجب تحديث التطبيق أولًا. واصل عملك وأخبر المكتب."),
    .failedBundles: counted("من المكتب، ولم يُقبل هنا: ", Noun.bundle, then: ". أخبر المكتب."),
    .refusedFiles: counted(
      "من الذاكرات، رُفض ووُضع جانبًا: ", Noun.file, then: ". لم يتغير شيء بسبب ذلك. أخبر المكتب."),
    .incompleteBundles: counted("من المكتب، وغير مكتمل: ", Noun.bundle, then: ". الذاكرات الأخرى تأتي بالباقي."),
    .filesMissing: counted(
      "ملفات أو صور ناقصة على هذا الجهاز: ", Noun.file,
      then: ". إن كانت لديك، فأعدها إلى مكانها. وإن كانت من غيرك، فستأتي بها ذاكرة لاحقة."),
    .filesHeading: "ملفات وصور تحتاج إليك",
    .fileMissing: "{name}: غير موجود على هذا الجهاز. إن كان لديك، فأعده إلى مكانه.",
    .fileBlocked: "{name}: في مكانه مجلد أو رابط. أزله.",
    .filePath: "{name}: لا يمكن حمل اسمه. أعطه اسمًا آخر.",
    .fileLarge: "{name}: أكبر من أن يُحمل. صغّره.",
    .diskFull: "قرص هذا الجهاز شبه ممتلئ. احذف ملفات لا تحتاج إليها. لا تحذف شيئًا من مجلد Satchel.",
    .longSilence: counted("لم يصل شيء من المكتب منذ ", Noun.dayPast, then: ". اطلب ذاكرة."),
    .wrongClock: "ربما كانت ساعة هذا الجهاز خاطئة. اضبطها. إن كانت صحيحة، فأخبر المكتب.",
    .fewKeys: "لم يبق إلا القليل من الأرقام للصفوف الجديدة. زامن مع المكتب قريبًا.",
    .otherWarning: "لدى Satchel تحذير. اعرض الحقائق أدناه على المكتب.",
    .onlyHere: "هذه الجداول تبقى على هذا الجهاز، ولا يحصل عليها المكتب: {names}.",
    .allFacts: "كل الحقائق للمكتب، بالإنجليزية",

    // MARK: Requests that are refused

    .refused: "مرفوض",
    .noSession: """
    افتح العنوان الذي يعرضه satchel window. هو صالح مرة واحدة. لاستعمال متصفح آخر، ابدأ النافذة من جديد.
    """,
    .usedToken: "استُعمل هذا العنوان من قبل. ابدأ satchel window من جديد.",
    .otherAddress: "لهذه النافذة عنوان واحد فقط، وهو على هذا الجهاز.",
    .badMethod: "النافذة لا تعرف هذه الطريقة.",
    .foreignForm: "هذا النموذج ليس من صفحات هذه النافذة.",
  ]

  /// A text with a counted noun, in the five forms.
  private static func counted(_ before: String, _ noun: String, then after: String) -> String {
    noun.split(separator: "|").map { before + $0 + after }.joined(separator: "|")
  }

  /// Nouns with their numbers, in the five forms.
  private enum Noun {
    static let bundle = "حزمة واحدة|حزمتان|{n} حزم|{n} حزمة|{n} حزمة"
    static let change = "تغيير واحد|تغييران|{n} تغييرات|{n} تغييرًا|{n} تغيير"
    static let dayPast = "يوم واحد|يومين|{n} أيام|{n} يومًا|{n} يوم"
    static let decision = "قرار واحد|قراران|{n} قرارات|{n} قرارًا|{n} قرار"
    static let file = "ملف واحد|ملفان|{n} ملفات|{n} ملفًا|{n} ملف"
    static let key = "مفتاح واحد|مفتاحان|{n} مفاتيح|{n} مفتاحًا|{n} مفتاح"
    static let part = "جزء واحد|جزءان|{n} أجزاء|{n} جزءًا|{n} جزء"
    static let row = "صف واحد|صفان|{n} صفوف|{n} صفًا|{n} صف"
    static let user = "مستخدم واحد|مستخدمان|{n} مستخدمين|{n} مستخدمًا|{n} مستخدم"
  }
}
