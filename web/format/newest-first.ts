/** The order of a provider's models: current ones first, by the version and date in their ids. */
const DATE = /20\d{2}-?\d{2}-?\d{2}|\d{2}-20\d{2}/g
/** `70b`, `8x7b`, `128k`, `4bit`: sizes, which do not show the age. */
const SIZE = /\d+(?:x\d+)?(?:\.\d+)?(?:b|m|k|bit|fp)(?![a-z])/g
const YEAR_AND_MONTH = /(?<!\d)2[2-9](?:0[1-9]|1[0-2])(?!\d)/
const VERSION = /(?<!\d)(\d{1,2})(?:[.p-](\d{1,2}))?(?!\d)/
const SNAPSHOT = /-(?:\d{4}|\d{2}-\d{2})(?!\d)/g

interface Age {
  readonly version: number
  readonly month: number
}

export function newestFirst<Model extends { readonly id: string }>(
  models: readonly Model[],
): readonly Model[] {
  return models
    .map((model, index) => ({ model, index, age: ageOf(model.id) }))
    .toSorted(
      (left, right) =>
        right.age.version - left.age.version ||
        right.age.month - left.age.month ||
        left.index - right.index,
    )
    .map(({ model }) => model)
}

function ageOf(id: string): Age {
  const name = id
    .slice(id.lastIndexOf('/') + 1)
    .toLowerCase()
    .replace(DATE, '')
  const month = Number(YEAR_AND_MONTH.exec(name)?.[0] ?? 0)
  const found = VERSION.exec(name.replace(SNAPSHOT, '').replace(SIZE, ''))
  return { month, version: found === null ? 0 : Number(found[1]) + Number(found[2] ?? 0) / 100 }
}
