/** Programs of other commits, for a comparison in one run. */
import type { Contender } from '../contender.ts'
import { PORTS } from '../ports.ts'
import { gatehouseWith, type SentNames } from './gatehouse.ts'

/** Whether calls send names and the account counts them, and the legend's text for that. */
const VARIANTS: Readonly<Record<string, { readonly names?: SentNames; readonly does: string }>> = {
  '': { does: '' },
  counted: { names: 'counted', does: '; calls send user, session and tag, which are counted' },
  uncounted: {
    names: 'uncounted',
    does: '; calls send user, session and tag, with attribution switched off',
  },
}

/**
 * @param listed `NAME=PATH` or `NAME=PATH=VARIANT`, separated by commas
 * @throws Error for an entry in another form
 */
export function listPrograms(listed: string | undefined): readonly Contender[] {
  if (listed === undefined || listed === '') return []
  return listed.split(',').map((entry, index) => {
    const [name = '', program = '', chosen = ''] = entry.split('=')
    const variant = VARIANTS[chosen]
    if (name === '' || program === '' || variant === undefined)
      throw new Error(`PROGRAMS: '${entry}' is not NAME=PATH, NAME=PATH=counted or …=uncounted`)
    const options = { program, port: PORTS.programs + index, names: variant.names }
    return {
      name,
      does: `Gatehouse, ${program}${variant.does}`,
      start: gatehouseWith(options).start,
    }
  })
}
