/**
 * How a command comes by a data folder that another one has for a moment. It must not know what is
 * done in the folder.
 */
import { DataFolderInUseError } from '../store/installation/data-folder.ts'

const FOLDER_PATIENCE_MS = 5_000
const FOLDER_POLL_MS = 50

/**
 * Waits for other commands, which have the folder for a moment; a server, which says its address,
 * is not waited for.
 */
export async function whenFolderIsFree<T>(open: () => T | Promise<T>): Promise<T> {
  const until = performance.now() + FOLDER_PATIENCE_MS
  for (;;) {
    try {
      return await open()
    } catch (error) {
      const isPassing = error instanceof DataFolderInUseError && error.holder === undefined
      if (!isPassing || performance.now() > until) throw error
      await Bun.sleep(FOLDER_POLL_MS)
    }
  }
}
