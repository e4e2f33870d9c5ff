/** As after-outage.ts, with the store that nodes share. */
import { measureStart } from './after-outage.ts'

export const scenario = {
  name: 'a start after an outage, Postgres',
  run: (size: number) => measureStart('Postgres', size),
}
