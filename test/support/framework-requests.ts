/**
 * Chat requests as published frameworks send them with their defaults (2026-11): the members and
 * schemas are theirs, the texts are ours.
 */

const TEXT = { type: 'string' }

const weather = (parameters: object, rest: object = {}) => ({
  tools: [
    {
      type: 'function',
      function: { name: 'get_weather', description: 'the weather', parameters, ...rest },
    },
  ],
})
const CITY = { type: 'object', properties: { city: TEXT }, required: ['city'] }
const TITLED = { type: 'object', properties: { city: { title: 'City', ...TEXT } } }

/** As Pydantic writes a model with a range and an optional member. */
const MEMBERS = {
  city: { title: 'City', ...TEXT },
  degrees: { maximum: 100, minimum: -100, title: 'Degrees', type: 'number' },
  note: { anyOf: [TEXT, { type: 'null' }], default: null, title: 'Note' },
}
const REPORT_SCHEMA = { properties: MEMBERS, required: ['city', 'degrees'], type: 'object' }
const { default: _, ...NOTE } = MEMBERS.note
const CLOSED_SCHEMA = {
  description: 'report of the weather',
  properties: { ...MEMBERS, note: NOTE },
  required: ['city', 'degrees', 'note'],
  title: 'Report',
  type: 'object',
  additionalProperties: false,
}
const reportTool = (parameters: object, rest: object = {}) => ({
  tools: [{ type: 'function', function: { name: 'Report', parameters, ...rest } }],
})
const REPORT_FORMAT = {
  response_format: {
    type: 'json_schema',
    json_schema: { schema: CLOSED_SCHEMA, name: 'Report', strict: true },
  },
}
const CALL_REPORT = { tool_choice: { type: 'function', function: { name: 'Report' } } }

export interface FrameworkDefaults {
  readonly framework: string
  /** Members of every request. */
  readonly members: object
  /** Members of a request with a tool, which a second turn repeats. */
  readonly tools?: object
  /** Members that ask for an answer by a schema, as a tool call or as a format. */
  readonly structured?: object
}

export const FRAMEWORKS: readonly FrameworkDefaults[] = [
  {
    framework: 'LangChain, Python 1.7.4',
    members: {},
    tools: weather(CITY),
    structured: REPORT_FORMAT,
  },
  {
    framework: 'LangChain, Python 1.7.4, with settings',
    members: { temperature: 0, top_p: 0.9, n: 1, stop: ['ZZZ'], max_completion_tokens: 4000 },
    tools: weather(CITY),
    structured: { parallel_tool_calls: false, ...CALL_REPORT, ...reportTool(REPORT_SCHEMA) },
  },
  {
    framework: 'LangChain, JavaScript 1.5.8, with settings',
    members: { temperature: 0.2, max_tokens: 4000 },
    tools: weather({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      ...CITY,
      additionalProperties: false,
    }),
    structured: REPORT_FORMAT,
  },
  {
    framework: 'LlamaIndex, Python 0.8.1',
    members: { temperature: 0.1 },
    tools: {
      parallel_tool_calls: true,
      tool_choice: 'auto',
      ...weather({ ...TITLED, required: ['city'], additionalProperties: false }, { strict: false }),
    },
    structured: {
      parallel_tool_calls: false,
      tool_choice: 'required',
      ...reportTool({ ...REPORT_SCHEMA, additionalProperties: false }, { strict: false }),
    },
  },
  {
    framework: 'LlamaIndex, JavaScript 0.4.22',
    members: { temperature: 0.1, top_p: 1 },
    tools: weather(CITY),
    structured: REPORT_FORMAT,
  },
  { framework: 'aider 0.86.2', members: { temperature: 0 } },
  { framework: 'dspy 3.4.1', members: { temperature: 0.5, max_completion_tokens: 2000 } },
  {
    framework: 'instructor 1.17.0',
    members: {},
    structured: { ...CALL_REPORT, ...reportTool(REPORT_SCHEMA) },
  },
]
