/** Closed lists for chat that several dialects share, in the gateway's own terms. */

export const TOOL_CHOICES = ['auto', 'none', 'required'] as const
export type UnnamedToolChoice = (typeof TOOL_CHOICES)[number]

/** `content_filter` includes a provider's refusal to answer. */
export const FINISH_REASONS = ['stop', 'length', 'tool_calls', 'content_filter'] as const

export const IMAGE_TYPES = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'] as const

export const FUNCTION_MEMBERS = ['name', 'description', 'parameters', 'strict'] as const

/** Members of a Messages request that make the provider store or run something. */
export const HOSTED_MEMBERS = ['thread', 'container', 'mcp_servers'] as const
