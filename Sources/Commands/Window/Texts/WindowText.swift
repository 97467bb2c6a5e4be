/// The texts of the window. Each language has a table with all of them: see `WindowLanguage`.
///
/// A text may have places for values, such as `{name}`. A text with a number has several forms, divided by `|`. In most
/// languages, one form is for one thing, and one for several. See `WindowLanguage.form(for:)`.
enum WindowText: String, CaseIterable, Sendable {
  // MARK: Every page

  case title, plainTitle, language, toContent, lookAgain, lookedAt, back, noPage, didNotWork

  // MARK: The state of the work, in a sentence and a word

  case wordGood, wordNotYet, wordAttention, everything, waits, underWay, notCertain, wrong, noData

  // MARK: Sticks

  case sticksHeading, syncWith, free, noStick, stickGone, stillWorks, showWork

  // MARK: A synchronisation while it runs

  case working, leaveIn, begun, asksPassword, reading, applying, collecting, writing, testing, percent, nothingBegun

  // MARK: The result of a synchronisation

  case done, notDone, safe, notAll, rowsCame, rowsWent, filesCame, nothingCame, bundlesWait, changesMet,
    filesRefused, workOnStick, workWasOnStick, changesOnStick, filesOnStick, filesDidNotFit, partOnStick,
    nothingToCarry, workNotOnStick, nextStick, whyFull, whyBadStick, whyNotMounted, whyBusy, whyNoSpace, whyReadOnly,
    whyPassword, whyNewer, whyFingerprint, askOffice, fullReport

  // MARK: Work that is not at the office

  case lacksHeading, changesToCarry, changesUnconfirmed, exportsUnconfirmed, decisions, conflictsToReport,
    filesToCarry, filesUnconfirmed, filesNotCarriable, rowsWithoutKey, formerUser, carryAgain, moreSticks, newKey,
    renewing

  // MARK: Contact with the office

  case contactHeading, lastSync, lastNews, lastConfirmed, never, justNow, minutesAgo, hoursAgo, daysAgo

  // MARK: Changes that met other changes

  case conflictsHeading, conflictsWords, heldChanges, more, columnField, columnBefore, columnOffice, columnDevice,
    noValue, bothChanged, deletedHere, deletedThere, bothMade, valueTaken, rowMissing, notAllowed, notYours, notSeen,
    notRecorded, unitBroken

  // MARK: Problems and their ways out

  case problemsHeading, statusFailed, isFirst, replacedFile, lostFile, damagedFile, onTablet, notCaptured,
    badTrigger, otherHistory, appWrites, stagedBundles, stuckBundles, failedBundles, refusedFiles, incompleteBundles,
    filesMissing, filesHeading, fileMissing, fileBlocked, filePath, fileLarge, diskFull, longSilence, wrongClock,
    fewKeys, otherWarning, onlyHere, allFacts

  // MARK: Requests that are refused

  case refused, noSession, usedToken, otherAddress, badMethod, foreignForm
}
