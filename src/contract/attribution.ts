/** The switches for the recording of an account's callers. */
import { z } from 'zod'
import { PEOPLE_FIGURES } from '../core/attribution.ts'

const switches = {
  membersAndTags: z.boolean().meta({
    description:
      'Whether calls are attributed to members and tags. Ids of members and hashes of tags are ' +
      'recorded with calls, and their names beside the calls. Default: true.',
  }),
  sessions: z.boolean().meta({
    description:
      'Whether calls are attributed to sessions and agents, which are recorded as hashes only. ' +
      'Default: true.',
  }),
  endUsers: z.boolean().meta({
    description:
      'Whether calls are attributed to the users of an application, as `x-gatehouse-user` or the ' +
      'request’s body names them. Their hashes are recorded with calls, and their names beside ' +
      'the calls. Default: false.',
  }),
  peopleFigures: z.enum(PEOPLE_FIGURES).meta({
    description:
      'Who sees figures of other members and of end users. `hidden`: no caller. `owner`: the ' +
      'signed-in owner. `administrators`: the signed-in owner and API keys, which every member can ' +
      'create. Members always see their own figures. Default: hidden.',
  }),
}

export const attributionBody = z.object(switches).meta({ id: 'Attribution' })

export const updateAttributionBody = z
  .strictObject(switches)
  .partial()
  .meta({ id: 'UpdateAttribution', description: 'Only the given switches change.' })
