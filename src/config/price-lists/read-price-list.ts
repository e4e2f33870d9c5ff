/** Reads a public price list, whose form is found from its content. */
import { isLitellm, readLitellm } from './litellm-list.ts'
import { isModelsDev, readModelsDev } from './models-dev-list.ts'
import { isOpenRouter, readOpenRouter } from './open-router-list.ts'
import type { PriceList } from './price-list.ts'

/**
 * @param providers the ids of all providers
 * @returns undefined for text of another form
 */
export function readPriceList(text: string, providers: ReadonlySet<string>): PriceList | undefined {
  let document: unknown
  try {
    document = JSON.parse(text)
  } catch {
    return undefined
  }
  if (isOpenRouter(document)) return readOpenRouter(document)
  if (isModelsDev(document)) return readModelsDev(document, providers)
  return isLitellm(document) ? readLitellm(document, providers) : undefined
}
