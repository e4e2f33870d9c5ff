/** Reads a gateway's address from its standard output. */
const LISTENING = /listening on (http:\/\/\S+)/

/** @throws Error with the server's output when the server ends before it listens */
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
