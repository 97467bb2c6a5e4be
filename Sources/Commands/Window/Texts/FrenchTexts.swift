extension WindowLanguage {
  /// The texts in French.
  static let frenchTexts: [WindowText: String] = [
    // MARK: Every page

    .title: "Travail sur l’appareil {device}",
    .plainTitle: "Travail sur cet appareil",
    .language: "Langue",
    .toContent: "Aller au contenu",
    .lookAgain: "Regarder à nouveau",
    .lookedAt: "Vérifié à {time}.",
    .back: "Retour",
    .noPage: "Cette page n’existe pas",
    .didNotWork: "Cela n’a pas marché",

    // MARK: The state of the work, in a sentence and a word

    .wordGood: "Bien",
    .wordNotYet: "Pas encore",
    .wordAttention: "Attention",
    .everything: "Tout est au bureau.",
    .waits: "Une partie de votre travail n’est pas encore au bureau.",
    .underWay: "Votre travail est en route. Le bureau ne l’a pas encore confirmé.",
    .notCertain: "Il n’est pas certain que le bureau ait tout.",
    .wrong: "Quelque chose ne va pas ici. Lisez plus bas quoi faire.",
    .noData: "Aucune donnée du bureau n’est encore sur cet appareil.",

    // MARK: Sticks

    .sticksHeading: "Clé USB",
    .syncWith: "Synchroniser avec la clé {name}",
    .free: "{size} libres",
    .noStick: """
    Aucune clé n’est branchée. Branchez une clé et ouvrez-la une fois dans votre gestionnaire de fichiers. Cette \
    page regarde à nouveau toute seule.
    """,
    .stickGone: """
    Cette clé n’est plus branchée, ou une autre clé est à sa place. Rien n’a été fait. Regardez à nouveau et \
    choisissez une clé.
    """,
    .stillWorks: "Satchel travaille encore avec la clé {name}. Attendez que ce soit fini.",
    .showWork: "Voir où cela en est",

    // MARK: A synchronisation while it runs

    .working: "Synchronisation avec la clé {name}",
    .leaveIn: "Laissez la clé branchée. Cette page regarde à nouveau toute seule.",
    .begun: "Cela a commencé.",
    .asksPassword: "Le mot de passe des clés est attendu. Tapez-le dans le terminal où la fenêtre a été lancée.",
    .reading: "Lecture",
    .applying: "Écriture des changements des autres dans la base de données",
    .collecting: "Collecte de vos changements",
    .writing: "Emballage de vos changements",
    .testing: "Vérification de la taille de la clé",
    .percent: "{phase} : {percent} %",
    .nothingBegun: "Aucune synchronisation n’a encore été lancée ici.",

    // MARK: The result of a synchronisation

    .done: "Synchronisé avec la clé {name}",
    .notDone: "La synchronisation avec la clé {name} n’est pas complète",
    .safe: "Vous pouvez retirer la clé {name}.",
    .notAll: "Tout n’a pas été fait. Rien n’est perdu. Lisez plus bas, ou montrez cette page au bureau.",
    .rowsCame: "{n} ligne du bureau a été écrite ici.|{n} lignes du bureau ont été écrites ici.",
    .rowsWent: """
    {n} ligne a été enlevée ici, comme le dit le bureau.|{n} lignes ont été enlevées ici, comme le dit le bureau.
    """,
    .filesCame: "{n} fichier est venu du bureau.|{n} fichiers sont venus du bureau.",
    .nothingCame: "La clé n’a rien de nouveau du bureau.",
    .bundlesWait: "{n} paquet du bureau est gardé ici et attend.|{n} paquets du bureau sont gardés ici et attendent.",
    .changesMet: """
    {n} de vos changements a rencontré celui d’une autre personne.|{n} de vos changements ont rencontré ceux \
    d’autres personnes.
    """,
    .filesRefused: """
    {n} fichier sur la clé a été refusé. Il n’a rien changé ici.|{n} fichiers sur la clé ont été refusés. Ils \
    n’ont rien changé ici.
    """,
    .workOnStick: "Votre travail est sur la clé. Portez-la au bureau.",
    .workWasOnStick: "Votre travail était déjà sur la clé. Portez-la au bureau.",
    .changesOnStick: "Elle porte {n} de vos changements.|Elle porte {n} de vos changements.",
    .filesOnStick: "Elle porte {n} fichier ou photo.|Elle porte {n} fichiers ou photos.",
    .filesDidNotFit: """
    {n} fichier ou photo n’y tient pas. Une clé suivante le prendra.|{n} fichiers ou photos n’y tiennent pas. Une \
    clé suivante les prendra.
    """,
    .partOnStick: "Une partie de votre travail est sur la clé. Le bureau a besoin de toutes les parties.",
    .nothingToCarry: "Il n’y a rien de nouveau à porter au bureau.",
    .workNotOnStick: "Votre travail n’a pas pu être mis sur la clé. Il est en sécurité sur cet appareil.",
    .nextStick: """
    {n} partie ne tient pas sur cette clé. Branchez la clé suivante et synchronisez à nouveau.|{n} parties ne \
    tiennent pas sur cette clé. Branchez la clé suivante et synchronisez à nouveau.
    """,
    .whyFull: "La clé est pleine. Enlevez-en des fichiers, ou prenez une autre clé.",
    .whyBadStick: "La clé ne garde pas ce qu’on y écrit. Prenez une autre clé.",
    .whyNotMounted: """
    La clé n’est pas branchée, ou pas ouverte. Branchez-la et ouvrez-la une fois dans votre gestionnaire de \
    fichiers.
    """,
    .whyBusy: """
    Un autre programme travaille avec les données. Enregistrez votre travail et fermez-le, puis synchronisez à \
    nouveau.
    """,
    .whyNoSpace: """
    Le disque de cet appareil est plein. Effacez des fichiers inutiles. N’effacez rien dans le dossier de Satchel.
    """,
    .whyReadOnly: """
    On ne peut pas écrire sur la clé ou sur le disque de cet appareil. Déplacez le verrou de la clé, ou prenez une \
    autre clé.
    """,
    .whyPassword: """
    Le mot de passe des clés de signature manque ou est faux. Synchronisez à nouveau et tapez-le dans le terminal.
    """,
    .whyNewer: """
    Le bureau utilise un Satchel plus récent. Il faut d’abord le mettre à jour sur cet appareil. Informez le bureau.
    """,
    .whyFingerprint: "Cet appareil ne connaît pas encore le bureau. Demandez au bureau la commande à taper.",
    .askOffice: "Montrez ces lignes au bureau.",
    .fullReport: "Rapport complet pour le bureau, en anglais",

    // MARK: Work that is not at the office

    .lacksHeading: "Ce qui n’est pas au bureau",
    .changesToCarry: "{n} changement attend une clé.|{n} changements attendent une clé.",
    .changesUnconfirmed: """
    {n} changement est emballé, et le bureau ne l’a pas encore confirmé.|{n} changements sont emballés, et le \
    bureau ne les a pas encore confirmés.
    """,
    .exportsUnconfirmed: """
    {n} paquet n’est pas encore confirmé par le bureau.|{n} paquets ne sont pas encore confirmés par le bureau.
    """,
    .decisions: """
    On ne sait pas si {n} de vos décisions est au bureau.|On ne sait pas si {n} de vos décisions sont au bureau.
    """,
    .conflictsToReport: """
    Le bureau ne sait pas encore que {n} changement en a rencontré un autre.|Le bureau ne sait pas encore que {n} \
    changements en ont rencontré d’autres.
    """,
    .filesToCarry: "{n} fichier ou photo attend une clé.|{n} fichiers ou photos attendent une clé.",
    .filesUnconfirmed: """
    {n} fichier ou photo est emballé, et le bureau ne l’a pas encore confirmé.|{n} fichiers ou photos sont \
    emballés, et le bureau ne les a pas encore confirmés.
    """,
    .filesNotCarriable: """
    {n} fichier ou photo ne peut pas être porté : il manque, est trop grand ou au mauvais endroit. Demandez au \
    bureau.|{n} fichiers ou photos ne peuvent pas être portés : ils manquent, sont trop grands ou au mauvais \
    endroit. Demandez au bureau.
    """,
    .rowsWithoutKey: """
    {n} ligne n’a pas de clé et ne peut pas être portée. Informez le bureau.|{n} lignes n’ont pas de clé et ne \
    peuvent pas être portées. Informez le bureau.
    """,
    .formerUser: """
    Le travail de {n} ancien utilisateur de cet appareil attend une clé.|Le travail de {n} anciens utilisateurs de \
    cet appareil attend une clé.
    """,
    .carryAgain: """
    Le bureau a perdu {n} paquet. Portez-le-lui encore une fois.|Le bureau a perdu {n} paquets. Portez-les-lui \
    encore une fois.
    """,
    .moreSticks: """
    {n} paquet est plus grand qu’une clé. Synchronisez avec la clé suivante.|{n} paquets sont plus grands qu’une \
    clé. Synchronisez avec la clé suivante.
    """,
    .newKey: """
    {n} nouvelle clé de signature de cet appareil n’est pas encore au bureau. Synchronisez avec une clé USB.|{n} \
    nouvelles clés de signature de cet appareil ne sont pas encore au bureau. Synchronisez avec une clé USB.
    """,
    .renewing: "Le bureau n’a pas encore répondu à cet appareil sous son nouveau nom. Continuez votre travail.",

    // MARK: Contact with the office

    .contactHeading: "Contact avec le bureau",
    .lastSync: "Dernière synchronisation",
    .lastNews: "Dernières nouvelles du bureau",
    .lastConfirmed: "Votre travail confirmé par le bureau",
    .never: "jamais",
    .justNow: "à l’instant",
    .minutesAgo: "il y a {n} minute|il y a {n} minutes",
    .hoursAgo: "il y a {n} heure|il y a {n} heures",
    .daysAgo: "il y a {n} jour|il y a {n} jours",

    // MARK: Changes that met other changes

    .conflictsHeading: "Changements qui en ont rencontré d’autres : {n}",
    .conflictsWords: """
    Vous et une autre personne avez changé la même chose. Les deux valeurs sont gardées. Dites au bureau laquelle \
    est juste.
    """,
    .heldChanges: """
    {n} changement attend autre chose au bureau. Il n’y a d’ordinaire rien à faire.|{n} changements attendent \
    autre chose au bureau. Il n’y a d’ordinaire rien à faire.
    """,
    .more: "Et {n} de plus.",
    .columnField: "Quoi",
    .columnBefore: "Avant",
    .columnOffice: "Au bureau",
    .columnDevice: "Sur cet appareil",
    .noValue: "(vide)",
    .bothChanged: "Les deux côtés ont changé la même valeur.",
    .deletedHere: "Vous l’avez effacé, et une autre personne l’a changé.",
    .deletedThere: "Vous l’avez changé, et une autre personne l’a effacé.",
    .bothMade: "Les deux côtés ont créé une ligne avec la même clé.",
    .valueTaken: "Une autre ligne a une valeur qu’une seule ligne peut avoir.",
    .rowMissing: "Une ligne liée manque, ou est encore nécessaire.",
    .notAllowed: "La base de données n’accepte pas une telle ligne.",
    .notYours: "Vous ne pouvez pas faire ce changement.",
    .notSeen: "La ligne n’appartient plus à votre zone.",
    .notRecorded: "Un programme a changé la ligne, et Satchel ne l’a pas noté.",
    .unitBroken: "Un changement lié n’a pas pu être accepté.",

    // MARK: Problems and their ways out

    .problemsHeading: "Ce qui demande votre attention",
    .statusFailed: """
    Satchel ne peut pas lire l’état de cet appareil maintenant. Si un autre programme travaille avec les données, \
    enregistrez et fermez-le. Regardez ensuite à nouveau. Si cela dure, informez le bureau.
    """,
    .isFirst: """
    Branchez la clé du bureau et synchronisez. Si cet appareil apporte ses propres données, le bureau vous donne \
    une commande à taper.
    """,
    .replacedFile: """
    Un autre programme a mis un nouveau fichier à la place des données. Ne continuez pas. Informez le bureau : \
    l’ancien fichier doit revenir, ou satchel doctor reprend le nouveau.
    """,
    .lostFile: """
    Le fichier des données a disparu. Sa carte ou son disque est-il branché ? Branchez-le et regardez à nouveau. \
    Sinon, informez le bureau : satchel doctor --repair le refait avec ce qui a été emballé.
    """,
    .damagedFile: """
    Les données sont abîmées. Fermez l’application et n’effacez rien. Synchronisez avec la prochaine clé du bureau \
    : elle refait les données.
    """,
    .onTablet: """
    Les données sont sur une tablette. Connectez la tablette et amarrez-la (satchel dock). Cette page peut porter \
    ce qui a été amarré avant.
    """,
    .notCaptured: """
    Un programme a changé les tables, et une partie de votre travail n’est peut-être pas notée. Informez le bureau \
    : satchel doctor la montre, et satchel doctor --repair la note.
    """,
    .badTrigger: """
    Une partie de l’application empêche tout échange avec le bureau. Informez le bureau et l’auteur de \
    l’application.
    """,
    .otherHistory: """
    Le bureau a été remis à un état ancien, ou il y a deux bureaux. Rien n’est perdu. Continuez le travail et les \
    clés, et informez le bureau.
    """,
    .appWrites: """
    Un autre programme écrit dans les données. Ses derniers changements ne sont pas comptés ici. Enregistrez-y \
    votre travail et regardez à nouveau.
    """,
    .stagedBundles: """
    {n} paquet du bureau attend d’être appliqué : satchel apply. Demandez au bureau.|{n} paquets du bureau \
    attendent d’être appliqués : satchel apply. Demandez au bureau.
    """,
    .stuckBundles: """
    {n} paquet du bureau n’a pas pu être appliqué. Souvent l’application doit d’abord être mise à jour. Continuez \
    et informez le bureau.|{n} paquets du bureau n’ont pas pu être appliqués. Souvent l’application doit d’abord \
    être mise à jour. Continuez et informez le bureau.
    """,
    .failedBundles: """
    {n} paquet du bureau n’a pas été accepté ici. Informez le bureau.|{n} paquets du bureau n’ont pas été acceptés \
    ici. Informez le bureau.
    """,
    .refusedFiles: """
    {n} fichier des clés a été refusé et mis de côté. Il n’a rien changé. Informez le bureau.|{n} fichiers des \
    clés ont été refusés et mis de côté. Ils n’ont rien changé. Informez le bureau.
    """,
    .incompleteBundles: """
    {n} paquet du bureau n’est pas complet. Les autres clés apportent le reste.|{n} paquets du bureau ne sont pas \
    complets. Les autres clés apportent le reste.
    """,
    .filesMissing: """
    {n} fichier ou photo manque sur cet appareil. Si vous l’avez, remettez-le. S’il vient d’autres, une clé \
    l’apportera.|{n} fichiers ou photos manquent sur cet appareil. Si vous les avez, remettez-les. S’ils viennent \
    d’autres, une clé les apportera.
    """,
    .filesHeading: "Fichiers et photos qui ont besoin de vous",
    .fileMissing: "{name} : il n’est pas sur cet appareil. Si vous l’avez, remettez-le.",
    .fileBlocked: "{name} : un dossier ou un lien est à sa place. Enlevez-le.",
    .filePath: "{name} : son nom ne peut pas être porté. Donnez-lui un autre nom.",
    .fileLarge: "{name} : il est trop grand pour être porté. Réduisez-le.",
    .diskFull: """
    Le disque de cet appareil est presque plein. Effacez des fichiers inutiles. N’effacez rien dans le dossier de \
    Satchel.
    """,
    .longSilence: """
    Rien n’est venu du bureau depuis {n} jour. Demandez une clé.|Rien n’est venu du bureau depuis {n} jours. \
    Demandez une clé.
    """,
    .wrongClock: """
    L’horloge de cet appareil est peut-être fausse. Mettez-la à l’heure. Si elle est juste, informez le bureau.
    """,
    .fewKeys: "Il reste peu de numéros pour de nouvelles lignes. Synchronisez bientôt avec le bureau.",
    .otherWarning: "Satchel a un avertissement. Montrez les faits ci-dessous au bureau.",
    .onlyHere: "Ces tables restent sur cet appareil, et le bureau ne les reçoit pas : {names}.",
    .allFacts: "Tous les faits pour le bureau, en anglais",

    // MARK: Requests that are refused

    .refused: "Refusé",
    .noSession: """
    Ouvrez l’adresse que montre satchel window. Elle marche une seule fois. Pour un autre navigateur, relancez la \
    fenêtre.
    """,
    .usedToken: "Cette adresse a déjà servi. Relancez satchel window.",
    .otherAddress: "Cette fenêtre n’a qu’une adresse, et elle est sur cette machine.",
    .badMethod: "La fenêtre ne connaît pas cette méthode.",
    .foreignForm: "Ce formulaire ne vient pas des pages de cette fenêtre.",
  ]
}
