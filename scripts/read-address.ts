/**
 * Reads out of a gateway's standard output where it listens, for scripts that start one. Must not
 * import the program.
 */
const LISTENING = /listening on (http:\/\/\S+)/

/** @throws Error with what the server said, when it ends before it listens */
export async function readAddress(output: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of output) {
    text += decoder.decode(chunk, { stream: true })
    const address = LISTENING.exec(text)?.[1]
    if (address !== undefined) return address
  }
  throw new Error(`the server did not start: ${text}`)
}
