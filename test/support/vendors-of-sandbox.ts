/** Settings by which a gateway asks one sandbox in place of every vendor. */
export function vendorsOfSandbox(url: string): Readonly<Record<string, string>> {
  return {
    OPENAI_API_KEY: 'any',
    OPENAI_BASE_URL: `${url}/v1`,
    ANTHROPIC_API_KEY: 'any',
    ANTHROPIC_BASE_URL: `${url}/anthropic`,
    GEMINI_API_KEY: 'any',
    GEMINI_BASE_URL: `${url}/gemini/v1beta`,
    BEDROCK_API_KEY: 'ABSKany',
    BEDROCK_BASE_URL: `${url}/bedrock`,
    COHERE_API_KEY: 'any',
    COHERE_BASE_URL: `${url}/cohere`,
    MISTRAL_API_KEY: 'any',
    MISTRAL_BASE_URL: `${url}/mistral/v1`,
  }
}
