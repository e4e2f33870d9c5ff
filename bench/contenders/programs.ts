/** Programs of other commits, to compare them in one run. */
import type { Contender } from '../contender.ts'
import { PORTS } from '../ports.ts'
import { gatehouseWith } from './gatehouse.ts'

const NAMED = 'named'

/**
 * @param listed `NAME=PATH` or `NAME=PATH=named`, separated by commas. `named`: each call sends a
 *   user, a session and a tag, and the account counts all three.
 * @throws where an entry has another form
 */
export function listPrograms(listed: string | undefined): readonly Contender[] {
  if (listed === undefined || listed === '') return []
  return listed.split(',').map((entry, index) => {
    const [name = '', program = '', variant = ''] = entry.split('=')
    if (name === '' || program === '' || !['', NAMED].includes(variant))
      throw new Error(`PROGRAMS: '${entry}' is not NAME=PATH or NAME=PATH=${NAMED}`)
    const isNamed = variant === NAMED
    const options = { program, port: PORTS.programs + index, hasNames: isNamed }
    return {
      name,
      does: `Gatehouse, ${program}${isNamed ? '; calls with user, session and tag' : ''}`,
      start: gatehouseWith(options).start,
    }
  })
}
