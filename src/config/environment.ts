/** The environment that settings are read from, and what is thrown when a part of it is wrong. */

export type Environment = Readonly<Record<string, string | undefined>>

/** Its message names what is wrong and how it has to be; it never repeats what may be a key. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError'
}
