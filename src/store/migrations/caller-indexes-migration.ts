/**
 * Migration 0016: indexes of the calls with a user, and of the calls with tags. Never edited
 * once released. Other calls are not in the indexes, so storing them costs nothing more. Postgres
 * blocks writes to the calls while an index is built; calls are served meanwhile, and wait in the
 * journal.
 */
import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'
import type { Step } from './newer-steps.ts'

export const callerIndexes: Step = {
  async up({ schema }: Kysely<Schema>): Promise<void> {
    await schema
      .createIndex('calls_by_user')
      .on('calls')
      .columns(['account_id', 'user_id', 'started_at', 'id'])
      .where('user_id', 'is not', null)
      .execute()
    // The index itself holds the tags, so calls without the tag are skipped without being read.
    await schema
      .createIndex('calls_by_tags')
      .on('calls')
      .columns(['account_id', 'started_at', 'tag_ids'])
      .where('tag_ids', 'is not', null)
      .execute()
  },
}
