/** Creates findings and runs checks. */
import type { Finding } from '../core/finding.ts'

/** Creates the findings of one check. */
export function findingsOf(check: string) {
  return {
    ok: (message: string): Finding => ({ level: 'ok', check, message }),
    warn: (message: string, cure: string): Finding => ({ level: 'warn', check, message, cure }),
    fail: (message: string, cure: string): Finding => ({ level: 'fail', check, message, cure }),
  }
}

/** The system's or client's error code; its name if it has none. */
export function codeOf(thrown: unknown): string {
  const { code, name } = thrown as { code?: unknown; name?: unknown }
  return typeof code === 'string' ? code : String(name)
}

/** The first line of an error's message, for messages that contain no secret. */
export function messageOf(thrown: unknown): string {
  return (thrown instanceof Error ? thrown.message : String(thrown)).replaceAll(/\s+/g, ' ')
}

/** A failing check must not prevent the others. */
export async function guard<Found>(
  check: string,
  examine: () => Promise<Found> | Found,
): Promise<{ readonly found: Found } | { readonly broken: Finding }> {
  try {
    return { found: await examine() }
  } catch (error) {
    return {
      broken: findingsOf(check).fail(
        `it could not be examined (${messageOf(error)})`,
        'Run this as the user that serves, on its machine',
      ),
    }
  }
}
