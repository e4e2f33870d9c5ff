/** The fuse in a budget's form. */
import { type FuseDraft, findFuseProblems } from '../../format/fuse-draft.ts'
import { FuseFields } from '../../ui/fuse-fields.tsx'

export function BudgetFuseFields({
  draft,
  isTried,
  onChange,
}: {
  readonly draft: FuseDraft
  readonly isTried: boolean
  readonly onChange: (draft: FuseDraft) => void
}) {
  const problems = findFuseProblems(draft).filter(({ field }) => isTried || field !== 'fuse')
  const problem = (field: string) =>
    problems.find((one) => one.field === field || one.field.startsWith(`${field}.`))?.message
  return (
    <fieldset className="flex flex-col gap-3">
      <legend className="mb-1 text-[13px] font-medium text-ink">Fuse</legend>
      <p className="text-[13px] text-ink-faint">
        Stops a single session or user, over the calls that this budget counts, until the stop is
        lifted on this page. Each node of the gateway counts on its own.
      </p>
      <FuseFields draft={draft} problem={problem} onChange={onChange} />
    </fieldset>
  )
}
