/** The database file is no longer at its path, so later changes would be lost. */

export class StoreFileGoneError extends Error {
  override readonly name = 'StoreFileGoneError'

  constructor(path: string) {
    super(
      `The database's file ${path} was removed or replaced while it was in use. Put it back, ` +
        'or restart the server.',
    )
  }
}
