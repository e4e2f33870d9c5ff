/** As catch-up.ts, with the store that nodes share. */
import { measureCatchUp } from './catch-up.ts'

export const scenario = {
  name: 'catching up, Postgres',
  run: (size: number) => measureCatchUp('Postgres', size),
}
