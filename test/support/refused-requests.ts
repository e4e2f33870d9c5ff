/**
 * Requests that a vendor's model refuses with a 400, and the same request as a caller of another
 * dialect sends it to a gate, which fits it (decision 0120).
 */

export interface RefusedRequest {
  readonly title: string
  /** Below the sandbox's address. */
  readonly vendorPath: string
  /** As an unfitted translation would send it. */
  readonly vendorBody: object
  /** A part of the vendor's message. */
  readonly message: string
  readonly path: '/v1/messages' | '/v1/chat/completions'
  readonly target: string
  readonly members: object
}

const CHAT = '/v1/chat/completions'
const MESSAGES = '/v1/messages'
const HI = { role: 'user', content: 'hi' }
const LONG_NAME = `mcp__${'plugin_'.repeat(9)}`
const NAMES = [LONG_NAME, 'files.read', 'files/read']
const text = { type: 'string' }
const COMBINED = { anyOf: [{ properties: { a: text } }, { properties: { b: text } }] }
const ROOT = { type: 'object', properties: {}, ...COMBINED }

const chatTool = (name: string, parameters: object, rest: object = {}) => ({
  tools: [{ type: 'function', function: { name, parameters, ...rest } }],
})
const claudeTool = (name: string, input_schema: object) => ({ tools: [{ name, input_schema }] })
const responsesTool = (name: string, parameters: object, rest: object = {}) => ({
  tools: [{ type: 'function', name, parameters, ...rest }],
})
const bedrockTool = (name: string, json: object) => ({
  toolConfig: { tools: [{ toolSpec: { name, inputSchema: { json } } }] },
})
const OBJECT = { type: 'object', properties: {} }

type Row = Omit<RefusedRequest, 'vendorPath' | 'target'>

const openaiChat = ({ vendorBody, ...row }: Row): RefusedRequest => ({
  ...row,
  vendorPath: CHAT,
  vendorBody: { model: 'gpt-4o', messages: [HI], ...vendorBody },
  target: 'openai/gpt-4o',
})
const responses = (model: string, { vendorBody, ...row }: Row): RefusedRequest => ({
  ...row,
  vendorPath: '/v1/responses',
  vendorBody: { model, input: 'hi', ...vendorBody },
  target: `openai/${model}`,
})
const claude = (model: string, { vendorBody, ...row }: Row): RefusedRequest => ({
  ...row,
  vendorPath: '/anthropic/v1/messages',
  vendorBody: { model, max_tokens: 64, messages: [HI], ...vendorBody },
  target: `anthropic/${model}`,
})
const gemini = (model: string, { vendorBody, ...row }: Row): RefusedRequest => ({
  ...row,
  vendorPath: `/gemini/v1beta/models/${model}:generateContent`,
  vendorBody: { contents: [{ role: 'user', parts: [{ text: 'hi' }] }], ...vendorBody },
  target: `gemini/${model}`,
})
const bedrock = (model: string, { vendorBody, ...row }: Row): RefusedRequest => ({
  ...row,
  vendorPath: `/bedrock/model/${encodeURIComponent(model)}/converse`,
  vendorBody: { messages: [{ role: 'user', content: [{ text: 'hi' }] }], ...vendorBody },
  target: `bedrock/${model}`,
})

const mistral = ({ vendorBody, ...row }: Row): RefusedRequest => ({
  ...row,
  vendorPath: '/mistral/v1/chat/completions',
  vendorBody: { model: 'echo', messages: [HI], ...vendorBody },
  target: 'mistral/echo',
})

const OPUS = 'claude-opus-4-6'
const SONNET = 'anthropic.claude-sonnet-4-5-20250929-v1:0'
const FLASH = 'gemini-2.5-flash'
const LONG_ID = 'u'.repeat(150)
const CALL_ID = `toolu_${'x'.repeat(90)}`
const FORMAT = {
  type: 'object',
  properties: { n: { type: 'integer', minimum: 1 } },
  required: ['n'],
}
const jsonFormat = (schema: object) => ({
  response_format: { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } },
})
const claudeFormat = (schema: object) => ({
  output_config: { format: { type: 'json_schema', schema } },
})
const effort = (word: string) => ({
  thinking: { type: 'adaptive' },
  output_config: { effort: word },
})
const budget = (budget_tokens: number) => ({
  max_tokens: 60_000,
  thinking: { type: 'enabled', budget_tokens },
})
const geminiBudget = (thinkingBudget: number) => ({
  generationConfig: { thinkingConfig: { thinkingBudget } },
})
const OPTIONAL = { type: 'object', properties: { a: text, b: text }, required: ['a'] }
const CLOSED = { ...OPTIONAL, additionalProperties: false }
const UNTYPED = {
  ...{ type: 'object', properties: { a: {} }, required: ['a'] },
  additionalProperties: false,
}
const STRICT = { strict: true }
const claudeStrictTool = (input_schema: object) => ({
  tools: [{ name: 'look', input_schema, strict: true }],
})
const JPG = { type: 'base64', media_type: 'image/jpg', data: 'AAAA' }
const CSV = Buffer.from('a,b\n1,2').toString('base64')
const chatCall = { id: 'call00001', type: 'function', function: { name: 'look', arguments: '{}' } }
const chatResult = { role: 'tool', tool_call_id: 'call00001', content: 'x' }

export const REFUSED_REQUESTS: readonly RefusedRequest[] = [
  ...NAMES.flatMap((name) => [
    openaiChat({
      title: `the tool name ${name} to OpenAI Chat`,
      path: MESSAGES,
      members: claudeTool(name, OBJECT),
      vendorBody: chatTool(name, OBJECT),
      message: "Invalid 'tools[0].function.name': string",
    }),
    responses('gpt-5', {
      title: `the tool name ${name} to OpenAI Responses`,
      path: MESSAGES,
      members: claudeTool(name, OBJECT),
      vendorBody: responsesTool(name, OBJECT),
      message: "Invalid 'tools[0].name': string",
    }),
    bedrock(SONNET, {
      title: `the tool name ${name} to Bedrock`,
      path: MESSAGES,
      members: claudeTool(name, OBJECT),
      vendorBody: bedrockTool(name, OBJECT),
      message: 'Member must satisfy regular expression pattern',
    }),
    mistral({
      title: `the tool name ${name} to Mistral`,
      path: MESSAGES,
      members: claudeTool(name, OBJECT),
      vendorBody: chatTool(name, OBJECT),
      message: 'must be a-z, A-Z, 0-9, or contain underscores and dashes',
    }),
  ]),
  claude(OPUS, {
    title: 'a tool name with a dot to Anthropic',
    path: CHAT,
    members: chatTool('files.read', OBJECT),
    vendorBody: claudeTool('files.read', OBJECT),
    message: "String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
  }),
  gemini(FLASH, {
    title: 'a tool name with a slash to Gemini',
    path: MESSAGES,
    members: claudeTool('files/read', OBJECT),
    vendorBody: {
      tools: [{ functionDeclarations: [{ name: 'files/read', parametersJsonSchema: OBJECT }] }],
    },
    message: 'Invalid function name',
  }),
  ...(
    [
      [{ type: 'object' }, 'In context=(), object schema missing properties.'],
      [ROOT, "schema must have type 'object' and not have 'oneOf'/'anyOf'"],
      [
        { type: 'object', properties: { a: { type: 'array' } } },
        "In context=('properties', 'a'), array schema missing items.",
      ],
    ] as const
  ).flatMap(([schema, message]) => [
    openaiChat({
      title: `a schema to OpenAI Chat: ${message}`,
      path: MESSAGES,
      members: claudeTool('look', schema),
      vendorBody: chatTool('look', schema),
      message,
    }),
    responses('gpt-5', {
      title: `a schema to OpenAI Responses: ${message}`,
      path: MESSAGES,
      members: claudeTool('look', schema),
      vendorBody: responsesTool('look', schema),
      message,
    }),
  ]),
  ...(
    [
      [OPTIONAL, "'additionalProperties' is required to be supplied and to be false."],
      [CLOSED, "Missing 'b'."],
      [UNTYPED, "In context=('properties', 'a'), schema must have a 'type' key."],
      [
        { ...OPTIONAL, properties: { a: { ...text, format: 'uri' } }, additionalProperties: false },
        "In context=('properties', 'a'), 'uri' is not a valid format.",
      ],
      [
        { ...UNTYPED, properties: { a: { oneOf: [text, { type: 'null' }] } } },
        "In context=('properties', 'a'), 'oneOf' is not permitted.",
      ],
    ] as const
  ).flatMap(([schema, message]) => [
    openaiChat({
      title: `a strict tool to OpenAI Chat: ${message}`,
      path: MESSAGES,
      members: claudeStrictTool(schema),
      vendorBody: chatTool('look', schema, STRICT),
      message,
    }),
    responses('gpt-5', {
      title: `a strict tool to OpenAI Responses: ${message}`,
      path: MESSAGES,
      members: claudeStrictTool(schema),
      vendorBody: responsesTool('look', schema, STRICT),
      message,
    }),
  ]),
  claude(OPUS, {
    title: 'an open strict tool to Anthropic',
    path: CHAT,
    members: chatTool('look', OPTIONAL, STRICT),
    vendorBody: claudeStrictTool(OPTIONAL),
    message: "'additionalProperties' must be explicitly set to false",
  }),
  claude('claude-sonnet-4-20250514', {
    title: 'a strict tool to a Claude model without structured outputs',
    path: CHAT,
    members: chatTool('look', CLOSED, STRICT),
    vendorBody: claudeStrictTool(CLOSED),
    message: 'does not support strict tools.',
  }),
  claude(OPUS, {
    title: 'image/jpg to Anthropic',
    path: CHAT,
    members: {
      messages: [
        {
          role: 'user',
          content: [{ type: 'image_url', image_url: { url: `data:image/jpg;base64,${JPG.data}` } }],
        },
      ],
    },
    vendorBody: { messages: [{ role: 'user', content: [{ type: 'image', source: JPG }] }] },
    message: "Input should be 'image/jpeg', 'image/png'",
  }),
  claude(OPUS, {
    title: 'a combinator at the root to Anthropic',
    path: CHAT,
    members: chatTool('look', ROOT),
    vendorBody: claudeTool('look', ROOT),
    message: 'input_schema does not support oneOf, allOf, or anyOf at the top level',
  }),
  claude(OPUS, {
    title: 'a schema without a type to Anthropic',
    path: CHAT,
    members: chatTool('look', {}),
    vendorBody: claudeTool('look', {}),
    message: 'input_schema.type',
  }),
  bedrock(SONNET, {
    title: 'a schema without a type to Bedrock',
    path: CHAT,
    members: chatTool('look', {}),
    vendorBody: bedrockTool('look', {}),
    message: 'inputSchema.json.type must be one of the following: object.',
  }),
  claude(OPUS, {
    title: 'a response schema with other keywords to Anthropic',
    path: CHAT,
    members: jsonFormat({ ...FORMAT, additionalProperties: false }),
    vendorBody: claudeFormat({ ...FORMAT, additionalProperties: false }),
    message: "property 'minimum' is not supported",
  }),
  claude(OPUS, {
    title: 'an open response schema to Anthropic',
    path: CHAT,
    members: jsonFormat(FORMAT),
    vendorBody: claudeFormat(FORMAT),
    message: "'additionalProperties' must be explicitly set to false",
  }),
  claude('claude-sonnet-4-20250514', {
    title: 'a response schema to a Claude model without structured outputs',
    path: CHAT,
    members: jsonFormat(FORMAT),
    vendorBody: claudeFormat(FORMAT),
    message: 'does not support output format',
  }),
  gemini(FLASH, {
    title: 'a JSON format beside tools to Gemini 2.5',
    path: CHAT,
    members: { ...jsonFormat(FORMAT), ...chatTool('look', OBJECT) },
    vendorBody: {
      tools: [{ functionDeclarations: [{ name: 'look' }] }],
      generationConfig: { responseMimeType: 'application/json' },
    },
    message: "Function calling with a response mime type: 'application/json' is unsupported",
  }),
  gemini(FLASH, {
    title: 'penalties to Gemini 2.5',
    path: CHAT,
    members: { presence_penalty: 0.2 },
    vendorBody: { generationConfig: { presencePenalty: 0.2 } },
    message: 'Penalty is not enabled for this model',
  }),
  gemini(FLASH, {
    title: 'a thinking budget above that of Gemini 2.5 Flash',
    path: MESSAGES,
    members: budget(31_999),
    vendorBody: geminiBudget(31_999),
    message: 'The thinking budget (31999) is invalid.',
  }),
  gemini('gemini-2.5-pro', {
    title: 'a thinking budget above that of Gemini 2.5 Pro',
    path: MESSAGES,
    members: budget(52_428),
    vendorBody: geminiBudget(52_428),
    message: 'The thinking budget (52428) is invalid.',
  }),
  gemini('gemini-2.5-pro', {
    title: 'no thinking to Gemini 2.5 Pro',
    path: CHAT,
    members: { reasoning_effort: 'none' },
    vendorBody: geminiBudget(0),
    message: 'Budget 0 is invalid. This model only works in thinking mode.',
  }),
  gemini(FLASH, {
    title: 'a call as the first turn to Gemini',
    path: CHAT,
    members: { messages: [{ role: 'assistant', tool_calls: [chatCall] }, chatResult] },
    vendorBody: {
      contents: [
        { role: 'model', parts: [{ functionCall: { name: 'look', args: {} } }] },
        {
          role: 'user',
          parts: [{ functionResponse: { name: 'look', response: { result: 'x' } } }],
        },
      ],
    },
    message: 'function call turn comes immediately after a user turn',
  }),
  ...(
    [
      ['gpt-5', 'xhigh'],
      ['o3', 'xhigh'],
      ['gpt-5.1', 'minimal'],
    ] as const
  ).map(([model, word]) =>
    responses(model, {
      title: `effort ${word} to ${model}`,
      path: word === 'minimal' ? CHAT : MESSAGES,
      members: word === 'minimal' ? { reasoning_effort: word } : effort(word),
      vendorBody: { reasoning: { effort: word } },
      message: `Unsupported value: '${word}' is not supported with the '${model}' model.`,
    }),
  ),
  responses('o3-mini', {
    title: 'parallel calls to o3-mini',
    path: MESSAGES,
    members: {
      ...claudeTool('look', OBJECT),
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    },
    vendorBody: { ...responsesTool('look', OBJECT), parallel_tool_calls: false },
    message: "'parallel_tool_calls' is not supported with this model",
  }),
  openaiChat({
    title: 'more output tokens than gpt-4o writes',
    path: MESSAGES,
    members: { max_tokens: 20_480 },
    vendorBody: { max_tokens: 20_480 },
    message: 'max_tokens is too large: 20480. This model supports at most 16384',
  }),
  claude('claude-sonnet-4-5', {
    title: 'more output tokens than Claude writes',
    path: CHAT,
    members: { max_completion_tokens: 200_000 },
    vendorBody: { max_tokens: 200_000 },
    message: 'max_tokens: 200000 > 64000, which is the maximum allowed number of output tokens',
  }),
  bedrock('anthropic.claude-3-haiku-20240307-v1:0', {
    title: 'more output tokens than Claude writes on Bedrock',
    path: CHAT,
    members: { max_completion_tokens: 8192 },
    vendorBody: { inferenceConfig: { maxTokens: 8192 } },
    message: 'The maximum tokens you requested exceeds the model limit of 4096.',
  }),
  claude(OPUS, {
    title: 'blank text to Anthropic',
    path: CHAT,
    members: { messages: [HI, { role: 'assistant', content: '\n ' }, HI] },
    vendorBody: { messages: [HI, { role: 'assistant', content: '\n ' }, HI] },
    message: 'text content blocks must contain non-whitespace text',
  }),
  bedrock(SONNET, {
    title: 'blank text to Bedrock',
    path: CHAT,
    members: { messages: [HI, { role: 'assistant', content: '\n ' }, HI] },
    vendorBody: {
      messages: [
        { role: 'user', content: [{ text: 'hi' }] },
        { role: 'assistant', content: [{ text: '\n ' }] },
        { role: 'user', content: [{ text: 'hi' }] },
      ],
    },
    message: 'The text field in the ContentBlock object',
  }),
  openaiChat({
    title: 'a long user id to OpenAI',
    path: MESSAGES,
    members: { metadata: { user_id: LONG_ID } },
    vendorBody: { user: LONG_ID },
    message: "Invalid 'user': string too long. Expected a string with maximum length 64",
  }),
  claude(OPUS, {
    title: 'a long user id to Anthropic',
    path: CHAT,
    members: { user: LONG_ID.repeat(2) },
    vendorBody: { metadata: { user_id: LONG_ID.repeat(2) } },
    message: 'String should have at most 256 characters',
  }),
  openaiChat({
    title: 'a long id of a call to OpenAI',
    path: MESSAGES,
    members: {
      ...claudeTool('look', OBJECT),
      messages: [
        HI,
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: CALL_ID, name: 'look', input: {} }],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: CALL_ID, content: 'x' }] },
      ],
    },
    vendorBody: {
      messages: [
        HI,
        { role: 'assistant', tool_calls: [{ ...chatCall, id: CALL_ID }] },
        { ...chatResult, tool_call_id: CALL_ID },
      ],
    },
    message: "Invalid 'messages[1].tool_calls[0].id': string too long.",
  }),
  claude(OPUS, {
    title: 'a text file as a document to Anthropic',
    path: CHAT,
    members: {
      messages: [
        {
          role: 'user',
          content: [
            {
              type: 'file',
              file: { filename: 'sums.csv', file_data: `data:text/csv;base64,${CSV}` },
            },
          ],
        },
      ],
    },
    vendorBody: {
      messages: [
        {
          role: 'user',
          content: [
            {
              type: 'document',
              source: { type: 'base64', media_type: 'text/csv', data: CSV },
            },
          ],
        },
      ],
    },
    message: "Input should be 'application/pdf'",
  }),
  claude(OPUS, {
    title: 'a conversation that the assistant ends to Claude 4.6',
    path: CHAT,
    members: { messages: [HI, { role: 'assistant', content: 'So' }] },
    vendorBody: { messages: [HI, { role: 'assistant', content: 'So' }] },
    message: 'The conversation must end with a user message.',
  }),
  openaiChat({
    title: 'the choice of a search that translation leaves out',
    path: MESSAGES,
    members: {
      tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 8 }],
      tool_choice: { type: 'tool', name: 'web_search' },
    },
    vendorBody: { tool_choice: { type: 'function', function: { name: 'web_search' } } },
    message: "'tool_choice' is only allowed when 'tools' are specified",
  }),
  {
    title: 'text beside a call to Cohere',
    path: CHAT,
    target: 'cohere/echo',
    members: {
      ...chatTool('look', OBJECT),
      messages: [HI, { role: 'assistant', content: 'I look.', tool_calls: [chatCall] }, chatResult],
    },
    vendorPath: '/cohere/v2/chat',
    vendorBody: {
      model: 'echo',
      ...chatTool('look', OBJECT),
      messages: [HI, { role: 'assistant', content: 'I look.', tool_calls: [chatCall] }, chatResult],
    },
    message: 'cannot have both text content and tool_calls',
  },
  mistral({
    title: 'a user right after a result to Mistral',
    path: MESSAGES,
    members: {
      ...claudeTool('look', OBJECT),
      messages: [
        HI,
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: 'call00001', name: 'look', input: {} }],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'call00001', content: 'x' },
            { type: 'text', text: 'go on' },
          ],
        },
      ],
    },
    vendorBody: {
      ...chatTool('look', OBJECT),
      messages: [HI, { role: 'assistant', content: '', tool_calls: [chatCall] }, chatResult, HI],
    },
    message: "Unexpected role 'user' after role 'tool'",
  }),
  bedrock(SONNET, {
    title: 'a conversation that the assistant begins to Bedrock',
    path: CHAT,
    members: { messages: [{ role: 'assistant', content: 'Hello!' }, HI] },
    vendorBody: {
      messages: [
        { role: 'assistant', content: [{ text: 'Hello!' }] },
        { role: 'user', content: [{ text: 'hi' }] },
      ],
    },
    message: 'A conversation must start with a user message',
  }),
]

/** Cases without a fitted form. */
export const ONLY_REFUSED: readonly RefusedRequest[] = [
  openaiChat({
    title: 'six stop sequences to OpenAI',
    path: MESSAGES,
    members: { stop_sequences: ['a', 'b', 'c', 'd', 'e', 'f'] },
    vendorBody: { stop: ['a', 'b', 'c', 'd', 'e', 'f'] },
    message: "Invalid 'stop': array too long. Expected an array with maximum length 4",
  }),
]
