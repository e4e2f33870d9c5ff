/** Tells the log which journals were taken over. Knows no folder. */
import type { Log } from '../telemetry/log.ts'
import type { AdoptionReport } from './claim-folders.ts'

export function adoptionReport(log: Log): AdoptionReport {
  return {
    adopted: (folder, segments) =>
      log.info({ folder, segments }, 'ledger: the journal of an earlier process is taken over'),
    failed: (folder, cause) =>
      log.error(
        { folder, err: cause },
        'ledger: the journal of an earlier process stays where it is',
      ),
  }
}
