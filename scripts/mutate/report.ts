/** The score by folder, and what a reader does about it. Runs nothing and prints nothing. */
import type { Mutant } from './find-mutants.ts'
import type { Outcome } from './run-mutants.ts'
import type { ListedSurvivor } from './survivors.ts'

/** Of a hundred faults in a folder, so many are noticed. */
export const BAR_PERCENT = 85

export interface FolderScore {
  readonly folder: string
  readonly killed: number
  /** Killed too: the tests would never have ended. */
  readonly timedOut: number
  readonly survived: number
  /** Survived, and listed with a reason: not counted. */
  readonly listed: number
  /** 100 when nothing counts. */
  readonly percent: number
}

export interface Report {
  readonly scores: readonly FolderScore[]
  /** Not listed. */
  readonly survivors: readonly Outcome[]
  /** Entries that are to go. */
  readonly killedThoughListed: readonly ListedSurvivor[]
  readonly gone: readonly ListedSurvivor[]
  readonly isBelowBar: boolean
}

export interface Tried {
  readonly folders: readonly string[]
  readonly outcomes: readonly Outcome[]
  /** Every mutant of the files that were asked for. */
  readonly pool: readonly Mutant[]
  readonly isAsked: (path: string) => boolean
  readonly listed: readonly ListedSurvivor[]
}

export function createReport({ folders, outcomes, pool, isAsked, listed }: Tried): Report {
  const isListed = ({ mutant }: Outcome) => listed.some((entry) => isOf(entry, mutant))
  const scores = folders.map((folder): FolderScore => {
    const own = outcomes.filter(({ mutant }) => mutant.path.startsWith(`src/${folder}/`))
    const count = (result: Outcome['result']) => own.filter((outcome) => outcome.result === result)
    const [killed, timedOut] = [count('killed').length, count('timed out').length]
    const survivors = count('survived')
    const survived = survivors.filter((outcome) => !isListed(outcome)).length
    const counted = killed + timedOut + survived
    return {
      ...{ folder, killed, timedOut, survived },
      listed: survivors.length - survived,
      percent: counted === 0 ? 100 : (100 * (killed + timedOut)) / counted,
    }
  })
  return {
    scores,
    survivors: outcomes.filter((outcome) => outcome.result === 'survived' && !isListed(outcome)),
    killedThoughListed: listed.filter((entry) =>
      outcomes.some(({ mutant, result }) => result !== 'survived' && isOf(entry, mutant)),
    ),
    gone: listed.filter(
      (entry) => isAsked(entry.path) && !pool.some((mutant) => isOf(entry, mutant)),
    ),
    isBelowBar: scores.some(({ percent }) => percent < BAR_PERCENT),
  }
}

function isOf(entry: ListedSurvivor, mutant: Mutant): boolean {
  return (
    entry.path === mutant.path &&
    entry.lineText === mutant.lineText &&
    entry.operator === mutant.operator &&
    (entry.mutated === undefined || entry.mutated === mutant.mutated)
  )
}

/** `path:line:column  operator  original → mutated` */
export function describeMutant({
  path,
  line,
  column,
  operator,
  original,
  mutated,
}: Mutant): string {
  return `${path}:${line}:${column}  ${operator}  ${original} → ${mutated}`
}
