/** Tags: labels of an account, by names of its own. Knows nothing of what carries them. */
import { z } from 'zod'
import { listOf } from './lists.ts'
import type { FieldNotes } from './problems.ts'
import type { PlainDescription } from './resource-description.ts'
import { text } from './text.ts'

const name = z
  .string()
  .regex(/^[A-Za-z0-9._-]{1,64}$/, {
    error: 'must be 1 to 64 letters, digits, hyphens, underscores and dots',
  })
  .meta({ description: 'No two tags of an account have the same.', example: 'production' })
const description = text({ min: 0, max: 500 }).meta({ description: 'Its purpose.' })

const tagBody = z
  .object({ id: z.string(), name, description: z.string(), createdAt: z.iso.datetime() })
  .meta({ id: 'Tag', description: 'A label of the account.' })

const notes: FieldNotes = { id: 'is set by the gateway', createdAt: 'is set by the gateway' }

export const tagResource = {
  name: 'Tag',
  names: 'Tags',
  one: 'tag',
  many: 'tags',
  path: '/v1/tags',
  group: 'Tags',
  groupDescription: 'Labels of the account.',
  operations: {
    list: 'List tags, newest first',
    create: 'Create a tag',
    show: 'Show a tag',
    update: 'Rename a tag, or describe it',
    delete: 'Delete a tag',
  },
  list: listOf(tagBody, 'TagList'),
  body: tagBody,
  create: z.strictObject({ name, description: description.default('') }).meta({ id: 'CreateTag' }),
  update: z
    .strictObject({ name, description })
    .partial()
    .meta({ id: 'UpdateTag', description: 'Only the fields that are given change.' }),
  notes: { create: notes, update: notes },
  examples: {
    id: 'tag_01a1fbc63aa470d6877cf556d6121edd',
    create: { 'A tag': { name: 'production', description: 'What customers see' } },
    update: { 'Another name': { name: 'live' } },
  },
  namedBy: 'name',
  commands: {
    about: 'labels of the account',
    options: { description: 'what it is for' },
    columns: { ID: 'id', NAME: 'name', DESCRIPTION: 'description' },
    id: 'tag_…',
    example: 'production',
  },
} satisfies PlainDescription
