/** Programs of other commits, for a comparison in one run. */
import type { Contender } from '../contender.ts'
import { PORTS } from '../ports.ts'
import { gatehouseWith, type SentNames } from './gatehouse.ts'

/** Whether calls send names and the account counts them, and the legend's text for that. */
const VARIANTS: Readonly<
  Record<string, { readonly names?: SentNames; readonly features: string }>
> = {
  '': { features: '' },
  counted: { names: 'counted', features: '; calls send user, session and tag, which are counted' },
  uncounted: {
    names: 'uncounted',
    features: '; calls send user, session and tag, with attribution switched off',
  },
}

/**
 * @param list `NAME=PATH` or `NAME=PATH=VARIANT`, separated by commas
 * @throws Error for an entry in another form
 */
export function listPrograms(list: string | undefined): readonly Contender[] {
  if (list === undefined || list === '') return []
  return list.split(',').map((entry, index) => {
    const [name = '', program = '', chosen = ''] = entry.split('=')
    const variant = VARIANTS[chosen]
    if (name === '' || program === '' || variant === undefined)
      throw new Error(`PROGRAMS: '${entry}' is not NAME=PATH, NAME=PATH=counted or …=uncounted`)
    const options = { program, port: PORTS.programs + index, names: variant.names }
    return {
      name,
      features: `Gatehouse, ${program}${variant.features}`,
      start: gatehouseWith(options).start,
    }
  })
}
