/**
 * Reads the `data` of server-sent events from a response: enough for a client that only shows text.
 */

export async function* readEventData(response: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  if (response.body === null) return
  for await (const chunk of response.body) {
    rest += decoder.decode(chunk, { stream: true })
    const events = rest.split(/\r?\n\r?\n/)
    rest = events.pop() ?? ''
    for (const event of events) {
      const data = event
        .split(/\r?\n/)
        .filter((line) => line.startsWith('data:'))
        .map((line) => line.slice(5).trimStart())
        .join('\n')
      if (data !== '') yield data
    }
  }
}
