/**
 * That the database's file is not in its place any more, while this process still has it open.
 * Knows no driver.
 */

/** Anything written to it now would be gone with the process. */
export class StoreFileGoneError extends Error {
  override readonly name = 'StoreFileGoneError'

  constructor(path: string) {
    super(
      `The database's file ${path} was removed or replaced while it was in use. Put it back, ` +
        'or restart the server.',
    )
  }
}
