import { z } from 'zod'
import { listOf } from './lists.ts'
import type { PlainField, PlainList, PlainResource } from './plain-resources.ts'
import type { FieldNotes } from './problems.ts'
import type { OperationWords, ResourceDescription, Verb } from './resource-description.ts'
import { text } from './text.ts'

export interface PlainDescription extends ResourceDescription {
  readonly operations: Readonly<Record<Verb, string | OperationWords>>
  readonly create: z.ZodObject
  readonly update: z.ZodObject
}

const notes: FieldNotes = { id: 'is set by the gateway', createdAt: 'is set by the gateway' }

export function describePlain(resource: PlainResource): PlainDescription {
  const { name, names, one, many, place, fields, lists = {}, examples } = resource
  const isRequired = (field: PlainField) => field.form !== undefined
  const body = z
    .object({
      id: z.string(),
      ...mapFields(fields, (field) => (isRequired(field) ? toSchema(field) : z.string())),
      ...mapFields(lists, toListSchema),
      createdAt: z.iso.datetime(),
    })
    .meta({ id: name, description: resource.description })
  return {
    name,
    names,
    one,
    many,
    path: `/v1/${place}`,
    group: names,
    groupDescription: `${capitalise(resource.about)}.`,
    operations: {
      list: `List ${many}, newest first`,
      create: `Create a ${one}`,
      show: `Show a ${one}`,
      update: { summary: resource.update, refusals: [409] },
      delete: `Delete a ${one}`,
    },
    list: listOf(body, `${name}List`),
    body,
    create: z
      .strictObject({
        ...mapFields(fields, (field) =>
          isRequired(field) ? toSchema(field) : toSchema(field).default(''),
        ),
        ...mapFields(lists, (list) => toListSchema(list).default([])),
      })
      .meta({ id: `Create${name}` }),
    update: z
      .strictObject({ ...mapFields(fields, toSchema), ...mapFields(lists, toListSchema) })
      .partial()
      .meta({ id: `Update${name}`, description: 'Only the given fields change.' }),
    notes: { create: notes, update: notes },
    examples,
  }
}

function toSchema({ about, max, form, example }: PlainField): z.ZodString {
  const schema =
    form === undefined
      ? text({ min: 0, max })
      : z.string().regex(form.pattern, { error: form.problem })
  return schema.meta({ description: about, ...(example === undefined ? {} : { example }) })
}

function toListSchema({ about, most, each, example }: PlainList) {
  return z
    .array(text({ min: 1, max: each.max }))
    .max(most)
    .refine((items) => new Set(items).size === items.length, { error: 'must not repeat an item' })
    .meta({ description: about, ...(example === undefined ? {} : { example: [...example] }) })
}

function mapFields<Field, Value>(
  fields: Readonly<Record<string, Field>>,
  toValue: (field: Field) => Value,
): Readonly<Record<string, Value>> {
  return Object.fromEntries(
    Object.entries(fields).map(([member, field]) => [member, toValue(field)]),
  )
}

function capitalise(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1)
}
