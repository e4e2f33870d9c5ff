/**
 * A first call as code, for a gate of the reader's and this gateway's address. The key is left to
 * the environment: it is not known here.
 */
import type { Snippet } from '../../ui/code-block.tsx'

/** @param origin of this gateway, without a slash at its end */
export function callSnippets(origin: string, gateId: string): readonly Snippet[] {
  return [
    {
      name: 'curl',
      code: `curl ${origin}/v1/chat/completions \\
  -H "Authorization: Bearer $GATEHOUSE_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"model": "${gateId}", "messages": [{"role": "user", "content": "Hello"}]}'`,
    },
    {
      name: 'OpenAI TypeScript',
      code: `import OpenAI from "openai";

const client = new OpenAI({
  baseURL: "${origin}/v1",
  apiKey: process.env.GATEHOUSE_API_KEY,
});

const completion = await client.chat.completions.create({
  model: "${gateId}",
  messages: [{ role: "user", content: "Hello" }],
});
console.log(completion.choices[0].message.content);`,
    },
    {
      name: 'OpenAI Python',
      code: `import os
from openai import OpenAI

client = OpenAI(
    base_url="${origin}/v1",
    api_key=os.environ["GATEHOUSE_API_KEY"],
)

completion = client.chat.completions.create(
    model="${gateId}",
    messages=[{"role": "user", "content": "Hello"}],
)
print(completion.choices[0].message.content)`,
    },
  ]
}
