/** What the gateway is asked and answers over HTTP. Generated from its OpenAPI document by scripts/docs.ts: `make fmt` renews it. */

export interface Schemas {
  readonly "AccessToken": { readonly "id": string; readonly "createdAt": string; readonly "lastUsedAt": string | null; readonly "createdBy": string | null; readonly "expiresAt": string | null; readonly "previous": { readonly "maskedPrefix": string; readonly "endsAt": string } | null; readonly "name": string; readonly "maskedPrefix": string; readonly "tags": readonly (string)[]; readonly "owner": { readonly "type": "member" | "tag"; readonly "id": string } | null; readonly "gates": readonly (string)[] | null; readonly "requestsPerMinute": number | null; readonly "tokensPerMinute": number | null; readonly "concurrentCalls": number | null; readonly "ipRanges": readonly (string)[] | null; readonly "overrides": boolean; readonly "stop": { readonly "kind": "member" | "access-token" | "fuse"; readonly "reason": string | null; readonly "createdAt": string; readonly "createdBy": string | null } | null }
  readonly "AccessTokenList": { readonly "data": readonly (Schemas["AccessToken"])[]; readonly "nextCursor": string | null }
  readonly "Account": { readonly "id": string; readonly "name": string; readonly "plan": string; readonly "limits": { readonly "requestsPerMinute": number | null; readonly "tokensPerMinute": number | null; readonly "concurrentCalls": number | null; readonly "accountRequestsPerMinute": number | null; readonly "accountConcurrentCalls": number | null; readonly "monthlyTokens": number | null; readonly "monthlySpendUsd": number | null }; readonly "quota": { readonly "tokens": { readonly "limit": number | null; readonly "used": number; readonly "reserved": number; readonly "resetsAt": string }; readonly "spend": { readonly "limit": number | null; readonly "used": number; readonly "reserved": number; readonly "resetsAt": string; readonly "unpricedCalls": number } }; readonly "retention": { readonly "callLogDays": number; readonly "hourlySumsDays": number; readonly "auditLogDays": number } }
  readonly "AccountName": { readonly "id": string; readonly "name": string }
  readonly "AltChatRequest": { readonly "gate_id"?: string | null | undefined; readonly "model"?: string | null | undefined; readonly "temperature"?: number | null | undefined; readonly "top_p"?: number | null | undefined; readonly "max_tokens"?: number | null | undefined; readonly "stream"?: boolean | null | undefined; readonly "stop"?: string | readonly (string)[] | null | undefined; readonly "random_seed"?: number | null | undefined; readonly "metadata"?: { readonly [name: string]: unknown } | null | undefined; readonly "prompt_cache_key"?: string | null | undefined; readonly "messages": readonly ({ readonly "role": string; readonly [name: string]: unknown })[]; readonly "presence_penalty"?: number | null | undefined; readonly "frequency_penalty"?: number | null | undefined; readonly "n"?: number | null | undefined; readonly "tools"?: readonly ({ readonly [name: string]: unknown })[] | null | undefined; readonly "tool_choice"?: string | { readonly [name: string]: unknown } | null | undefined; readonly "parallel_tool_calls"?: boolean | null | undefined; readonly "response_format"?: { readonly "type": string; readonly [name: string]: unknown } | null | undefined; readonly "prediction"?: { readonly [name: string]: unknown } | null | undefined; readonly "reasoning_effort"?: string | null | undefined; readonly "prompt_mode"?: string | null | undefined; readonly "guardrails"?: readonly ({ readonly [name: string]: unknown })[] | null | undefined; readonly "service_tier"?: string | null | undefined; readonly "safe_prompt"?: boolean | null | undefined; readonly [name: string]: unknown }
  readonly "AltError": { readonly "error": string; readonly "message": string; readonly "details"?: unknown | undefined; readonly "object": "error"; readonly "type": string; readonly "param": string | null; readonly "code": string | null; readonly [name: string]: unknown }
  readonly "AltModel": { readonly "id": string; readonly "object": "model"; readonly "created": number; readonly "owned_by": string; readonly "aliases": readonly (string)[]; readonly "max_context_length"?: number | undefined; readonly "capabilities": { readonly "completion_chat": boolean; readonly "completion_fim": boolean; readonly [name: string]: unknown }; readonly [name: string]: unknown }
  readonly "AltModelList": { readonly "object": "list"; readonly "data": readonly (Schemas["AltModel"])[] }
  readonly "Analytics": { readonly "from": string; readonly "to": string; readonly "interval": string; readonly "groupBy": string | null; readonly "thenBy": string | null; readonly "onlyUser": string | null; readonly "data": readonly (Schemas["UsageSum"])[]; readonly "nextCursor": string | null; readonly "total"?: { readonly "start": string; readonly "group": string | null; readonly "name": string | null; readonly "thenGroup": string | null; readonly "thenName": string | null; readonly "isRest": boolean; readonly "lastDay": string | null; readonly "calls": number; readonly "errors": number; readonly "refused": number; readonly "cancelled": number; readonly "tokens": { readonly "input": number; readonly "output": number; readonly "cachedInput": number; readonly "cacheWrite": number; readonly "reasoning": number; readonly "unreportedCalls": number }; readonly "cost": { readonly "usd": number; readonly "estimatedCalls": number; readonly "unknownCalls": number; readonly "unpricedCalls": number }; readonly "durationMs": Schemas["Percentiles"]; readonly "firstByteMs": Schemas["Percentiles"] } | null | undefined; readonly "groupTotals"?: readonly (Schemas["UsageSum"])[] | undefined }
  readonly "ApiKey": { readonly "id": string; readonly "createdAt": string; readonly "lastUsedAt": string | null; readonly "createdBy": string | null; readonly "expiresAt": string | null; readonly "previous": { readonly "maskedPrefix": string; readonly "endsAt": string } | null; readonly "name": string; readonly "user": string | null; readonly "tags": readonly (string)[]; readonly "maskedPrefix": string }
  readonly "ApiKeyList": { readonly "data": readonly (Schemas["ApiKey"])[]; readonly "nextCursor": string | null }
  readonly "AskForInvitationOffer": { readonly "invitation": string }
  readonly "Attempt": { readonly "target": string; readonly "status": number | null; readonly "afterMs": number; readonly "durationMs": number; readonly "errorKind": "invalid_request" | "unauthorized" | "forbidden" | "gate_not_found" | "not_found" | "method_not_allowed" | "request_timeout" | "conflict" | "precondition_failed" | "payload_too_large" | "upgrade_not_supported" | "rate_limited" | "quota_exceeded" | "upstream_error" | "provider_auth_failed" | "upstream_timeout" | "unavailable" | "internal_error" | null; readonly "errorCode": string | null }
  readonly "Attribution": { readonly "membersAndTags": boolean; readonly "sessions": boolean; readonly "endUsers": boolean; readonly "peopleFigures": "hidden" | "owner" | "administrators" }
  readonly "AuditActor": { readonly "type": "key" | "user" | "operator" | "fuse"; readonly "id": string; readonly "name": string | null }
  readonly "AuditEntry": { readonly "id": string; readonly "at": string; readonly "actor": Schemas["AuditActor"]; readonly "action": string; readonly "resourceType": string; readonly "resourceId": string; readonly "before": { readonly [name: string]: unknown } | null; readonly "after": { readonly [name: string]: unknown } | null; readonly "requestId": string | null; readonly "clientAddress": string | null }
  readonly "AuditLog": { readonly "data": readonly (Schemas["AuditEntry"])[]; readonly "nextCursor": string | null }
  readonly "BeginOidc": { readonly "returnTo"?: string | undefined; readonly "invitation"?: string | undefined }
  readonly "Budget": { readonly "id": string; readonly "name": string; readonly "scope": "account" | "key" | "gate" | "user" | "tag" | "each-user" | "each-key"; readonly "keyId": string | null; readonly "gateId": string | null; readonly "member": string | null; readonly "endUser": string | null; readonly "tag": string | null; readonly "limitTokens": number | null; readonly "limitUsd": number | null; readonly "period": "day" | "week" | "month" | "total"; readonly "timeZone": string; readonly "unpriced": "estimate" | "refuse" | "allow"; readonly "message": string | null; readonly "raise": Schemas["BudgetRaise"]; readonly "atLimit": "refuse" | "cheaper" | "free-only"; readonly "refuseAt": number | null; readonly "fuse": { readonly "usd": number | null; readonly "callsPerMinute": number | null; readonly "forMinutes": number } | null; readonly "alertAt": readonly (number)[]; readonly "used": { readonly "tokens": number; readonly "usd": number; readonly "unpricedCalls": number } | null; readonly "reserved": { readonly "tokens": number; readonly "usd": number } | null; readonly "isExhausted": boolean | null; readonly "resetsAt": string | null; readonly "createdAt": string; readonly "updatedAt": string }
  readonly "BudgetHead": { readonly "id": string; readonly "name": string | null; readonly "used": { readonly "tokens": number; readonly "usd": number; readonly "unpricedCalls": number }; readonly "share": number; readonly "budgetId": string | null }
  readonly "BudgetHeadList": { readonly "data": readonly (Schemas["BudgetHead"])[]; readonly "nextCursor": string | null }
  readonly "BudgetList": { readonly "data": readonly (Schemas["Budget"])[]; readonly "nextCursor": string | null }
  readonly "BudgetRaise": { readonly "by": number; readonly "until": string } | null
  readonly "BudgetSimulation": { readonly "from": string; readonly "to": string; readonly "admitted": { readonly "calls": number; readonly "tokens": number; readonly "usd": number }; readonly "moved": { readonly "calls": number; readonly "tokens": number; readonly "usd": number; readonly "savedUsd": number }; readonly "refused": { readonly "calls": number; readonly "tokens": number; readonly "usd": number }; readonly "firstRefusedAt": string | null; readonly "firstMovedAt": string | null; readonly "periods": readonly (Schemas["SimulatedPeriod"])[]; readonly "heads": readonly (Schemas["SimulatedHead"])[]; readonly "headsCounted": number; readonly "headsStopped": number; readonly "limitations": readonly (string)[] }
  readonly "ChangePassword": { readonly "currentPassword": string; readonly "newPassword": string }
  readonly "ChatCompletion": { readonly "id": string; readonly "object": "chat.completion"; readonly "created": number; readonly "model": string; readonly "choices": readonly ({ readonly "index": number; readonly "message": { readonly "role": string; readonly "content"?: string | readonly ({ readonly [name: string]: unknown })[] | null | undefined; readonly [name: string]: unknown }; readonly "finish_reason": string | null; readonly [name: string]: unknown })[]; readonly "usage"?: { readonly "prompt_tokens": number; readonly "completion_tokens"?: number | undefined; readonly "total_tokens": number; readonly [name: string]: unknown } | null | undefined; readonly [name: string]: unknown }
  readonly "ChatRequest": { readonly "gate_id"?: string | null | undefined; readonly "model"?: string | null | undefined; readonly "messages": readonly ({ readonly "role": string; readonly [name: string]: unknown })[]; readonly "stream"?: boolean | null | undefined; readonly "stream_options"?: { readonly "include_usage"?: boolean | null | undefined; readonly [name: string]: unknown } | null | undefined; readonly "max_completion_tokens"?: number | null | undefined; readonly "max_tokens"?: number | null | undefined; readonly "temperature"?: number | null | undefined; readonly "top_p"?: number | null | undefined; readonly "presence_penalty"?: number | null | undefined; readonly "frequency_penalty"?: number | null | undefined; readonly "top_k"?: number | null | undefined; readonly "stop"?: string | readonly (string)[] | null | undefined; readonly "seed"?: number | null | undefined; readonly "logprobs"?: boolean | null | undefined; readonly "top_logprobs"?: number | null | undefined; readonly "tools"?: readonly ({ readonly [name: string]: unknown })[] | null | undefined; readonly "tool_choice"?: string | { readonly [name: string]: unknown } | null | undefined; readonly "parallel_tool_calls"?: boolean | null | undefined; readonly "response_format"?: { readonly "type": string; readonly [name: string]: unknown } | null | undefined; readonly "reasoning_effort"?: string | null | undefined; readonly "user"?: string | null | undefined; readonly "safety_identifier"?: string | null | undefined; readonly "metadata"?: { readonly [name: string]: unknown } | null | undefined; readonly "service_tier"?: string | null | undefined; readonly "prompt_cache_key"?: string | null | undefined; readonly [name: string]: unknown }
  readonly "Conformance": { readonly "endpoint": string; readonly "dialect": string | null; readonly "targets": readonly ({ readonly "provider": string; readonly "models": readonly (string)[] })[]; readonly "results": { readonly [name: string]: Schemas["ConformanceVerdict"] } }
  readonly "ConformanceList": { readonly "data": readonly (Schemas["Conformance"])[]; readonly "nextCursor": string | null }
  readonly "ConformanceVerdict": { readonly "verdict": "relayed" | "lossless" | "lossy" | "refused" | "absent"; readonly "fields"?: readonly (string)[] | undefined; readonly "message"?: string | undefined }
  readonly "Cost": { readonly "usd": number | null; readonly "status": "exact" | "estimated" | "unknown"; readonly "source": string | null }
  readonly "CostPart": { readonly "kind": "input" | "cachedInput" | "cacheWrite" | "cacheWriteHour" | "inputAudio" | "cachedInputAudio" | "outputAudio" | "output" | "reasoning" | "request" | "webSearch" | "fileSearch" | "codeInterpreter" | "imageGeneration" | "otherTool"; readonly "count": number; readonly "usdPerMillion": number; readonly "usd": number }
  readonly "CostWithParts": { readonly "usd": number | null; readonly "status": "exact" | "estimated" | "unknown"; readonly "source": string | null; readonly "parts": readonly (Schemas["CostPart"])[] | null }
  readonly "CountTokensRequest": { readonly "gate_id"?: string | null | undefined; readonly "model"?: string | null | undefined; readonly "messages": readonly ({ readonly "role": string; readonly [name: string]: unknown })[]; readonly "system"?: string | readonly ({ readonly [name: string]: unknown })[] | null | undefined; readonly "tools"?: readonly ({ readonly [name: string]: unknown })[] | null | undefined; readonly "tool_choice"?: { readonly "type": string; readonly [name: string]: unknown } | null | undefined; readonly "thinking"?: { readonly "type": string; readonly [name: string]: unknown } | null | undefined; readonly [name: string]: unknown }
  readonly "CreateAccessToken": { readonly "name": string; readonly "expiresAt"?: string | null | undefined; readonly "tags"?: readonly (string)[] | undefined; readonly "owner"?: { readonly "type": "member" | "tag"; readonly "id": string } | null | undefined; readonly "gates"?: readonly (string)[] | null | undefined; readonly "requestsPerMinute"?: number | null | undefined; readonly "tokensPerMinute"?: number | null | undefined; readonly "concurrentCalls"?: number | null | undefined; readonly "ipRanges"?: readonly (string)[] | null | undefined; readonly "overrides"?: boolean | undefined }
  readonly "CreateApiKey": { readonly "name": string; readonly "expiresAt"?: string | null | undefined; readonly "user"?: string | null | undefined; readonly "tags"?: readonly (string)[] | undefined }
  readonly "CreateBudget": { readonly "name"?: string | undefined; readonly "scope"?: "account" | "key" | "gate" | "user" | "tag" | "each-user" | "each-key" | undefined; readonly "keyId"?: string | undefined; readonly "gateId"?: string | undefined; readonly "member"?: string | undefined; readonly "endUser"?: string | undefined; readonly "tag"?: string | undefined; readonly "limitTokens"?: number | undefined; readonly "limitUsd"?: number | undefined; readonly "period": "day" | "week" | "month" | "total"; readonly "timeZone"?: string | undefined; readonly "unpriced"?: "estimate" | "refuse" | "allow" | undefined; readonly "message"?: string | null | undefined; readonly "atLimit"?: "refuse" | "cheaper" | "free-only" | undefined; readonly "refuseAt"?: number | null | undefined; readonly "fuse"?: { readonly "usd"?: number | null | undefined; readonly "callsPerMinute"?: number | null | undefined; readonly "forMinutes"?: number | undefined } | null | undefined; readonly "alertAt"?: readonly (number)[] | undefined }
  readonly "CreateGate": { readonly "id"?: string | undefined; readonly "displayName"?: string | undefined; readonly "description"?: string | undefined; readonly "targets": readonly ({ readonly "model": string; readonly "weight"?: number | undefined; readonly "when"?: { readonly "budget": string; readonly "from": number } | undefined })[]; readonly "strategy"?: "fallback" | "weighted" | "fastest" | undefined; readonly "hedgeAfterMs"?: number | null | undefined; readonly "defaults"?: { readonly "instructions"?: string | undefined; readonly "temperature"?: number | undefined; readonly "topP"?: number | undefined; readonly "maxOutputTokens"?: number | undefined; readonly "reasoningEffort"?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max" | undefined } | undefined; readonly "overrides"?: "ignore" | "reject" | "allow" | undefined; readonly "aliases"?: readonly (string | { readonly "name": string; readonly "isListed"?: boolean | undefined })[] | undefined; readonly "isCatchAll"?: boolean | undefined; readonly "facts"?: { readonly "contextTokens"?: number | undefined; readonly "maxOutputTokens"?: number | undefined; readonly "inputModalities"?: readonly ("text" | "image" | "audio" | "video" | "file" | "embeddings")[] | undefined; readonly "outputModalities"?: readonly ("text" | "image" | "audio" | "video" | "file" | "embeddings")[] | undefined; readonly "reasoningEfforts"?: readonly (string)[] | undefined } | undefined; readonly "codexInstructions"?: string | null | undefined; readonly "usageHeaders"?: boolean | undefined; readonly "budgetHeaders"?: boolean | undefined; readonly "fuse"?: { readonly "usd"?: number | null | undefined; readonly "callsPerMinute"?: number | null | undefined; readonly "forMinutes"?: number | undefined } | null | undefined; readonly "adapt"?: "off" | "retry" | "on" | undefined; readonly "ignoreStore"?: boolean | undefined; readonly "timeoutMs"?: number | null | undefined; readonly "maxRetries"?: number | undefined }
  readonly "CreateInvitation": { readonly "email": string }
  readonly "CreateOwnedModel": { readonly "slug": string; readonly "displayName"?: string | undefined; readonly "dialect": "openai-chat" | "openai-responses" | "mistral-fim" | "anthropic-messages" | "openai-embeddings"; readonly "baseUrl": string; readonly "upstreamModelId": string; readonly "credential"?: string | undefined; readonly "credentialHeader"?: "auto" | "authorization" | "x-api-key" | undefined; readonly "fimEndpoint"?: "auto" | "fim-completions" | "infill" | "completions-suffix" | "completions-template" | undefined; readonly "fimTemplate"?: "auto" | "codegemma" | "codellama" | "codestral" | "deepseek-coder" | "granite-code" | "qwen-coder" | "starcoder2" | undefined; readonly "pricingInput"?: number | undefined; readonly "pricingOutput"?: number | undefined; readonly "pricingCachedInput"?: number | undefined }
  readonly "CreateTag": { readonly "name": string; readonly "description"?: string | undefined; readonly "members"?: readonly (string)[] | undefined }
  readonly "CreateWebhook": { readonly "url": string; readonly "secret"?: string | undefined; readonly "events": readonly ("budget.threshold" | "budget.exhausted" | "fuse.blown" | "provider.degraded" | "target.unusable" | "token.expiring" | "store.set-back" | "redis.other")[]; readonly "active"?: boolean | undefined }
  readonly "CreatedAccessToken": { readonly "id": string; readonly "createdAt": string; readonly "lastUsedAt": string | null; readonly "createdBy": string | null; readonly "expiresAt": string | null; readonly "previous": { readonly "maskedPrefix": string; readonly "endsAt": string } | null; readonly "name": string; readonly "maskedPrefix": string; readonly "tags": readonly (string)[]; readonly "owner": { readonly "type": "member" | "tag"; readonly "id": string } | null; readonly "gates": readonly (string)[] | null; readonly "requestsPerMinute": number | null; readonly "tokensPerMinute": number | null; readonly "concurrentCalls": number | null; readonly "ipRanges": readonly (string)[] | null; readonly "overrides": boolean; readonly "stop": { readonly "kind": "member" | "access-token" | "fuse"; readonly "reason": string | null; readonly "createdAt": string; readonly "createdBy": string | null } | null; readonly "token": string }
  readonly "CreatedApiKey": { readonly "id": string; readonly "createdAt": string; readonly "lastUsedAt": string | null; readonly "createdBy": string | null; readonly "expiresAt": string | null; readonly "previous": { readonly "maskedPrefix": string; readonly "endsAt": string } | null; readonly "name": string; readonly "user": string | null; readonly "tags": readonly (string)[]; readonly "maskedPrefix": string; readonly "key": string }
  readonly "CreatedInvitation": { readonly "id": string; readonly "email": string; readonly "invitedBy": string; readonly "status": "open" | "accepted" | "expired"; readonly "createdAt": string; readonly "expiresAt": string; readonly "token": string; readonly "link": string }
  readonly "CreatedWebhook": { readonly "id": string; readonly "url": string; readonly "events": readonly ("budget.threshold" | "budget.exhausted" | "fuse.blown" | "provider.degraded" | "target.unusable" | "token.expiring" | "store.set-back" | "redis.other")[]; readonly "active": boolean; readonly "createdAt": string; readonly "updatedAt": string; readonly "secret"?: string | undefined }
  readonly "CurrentSession": { readonly "account": Schemas["AccountName"]; readonly "user": { readonly "id": string; readonly "email": string; readonly "name": string } | null; readonly "role": "owner" | "member" | null; readonly "keyId": string | null; readonly "accessToken": { readonly "name": string; readonly "gates": readonly (string)[] | null } | null; readonly "expiresAt": string | null }
  readonly "Embeddings": { readonly "object": "list"; readonly "data": readonly ({ readonly "object": "embedding"; readonly "index": number; readonly "embedding": readonly (number)[] | string; readonly [name: string]: unknown })[]; readonly "model": string; readonly "usage"?: { readonly "prompt_tokens": number; readonly "completion_tokens"?: number | undefined; readonly "total_tokens": number; readonly [name: string]: unknown } | null | undefined; readonly [name: string]: unknown }
  readonly "EmbeddingsRequest": { readonly "gate_id"?: string | null | undefined; readonly "model"?: string | null | undefined; readonly "input": string | readonly (string | number | readonly (number)[])[]; readonly "dimensions"?: number | null | undefined; readonly "encoding_format"?: "float" | "base64" | null | undefined; readonly "user"?: string | null | undefined; readonly [name: string]: unknown }
  readonly "EndUserDay": { readonly "day": string; readonly "calls": number; readonly "errors": number; readonly "refused": number; readonly "cancelled": number; readonly "tokens": { readonly "input": number; readonly "output": number; readonly "cachedInput": number; readonly "cacheWrite": number; readonly "reasoning": number }; readonly "cost": { readonly "usd": number; readonly "estimatedCalls": number; readonly "unknownCalls": number } }
  readonly "EndUserExport": { readonly "user": string; readonly "name": string | null; readonly "nameLastSeenAt": string | null; readonly "days": readonly (Schemas["EndUserDay"])[]; readonly "sessions": readonly (Schemas["UsageSession"])[]; readonly "calls": readonly (Schemas["Log"])[] }
  readonly "ErasedEndUser": { readonly "user": string; readonly "calls": number; readonly "days": number; readonly "sessions": number; readonly "notErased": readonly (string)[] }
  readonly "Error": { readonly "error": string; readonly "message": string; readonly "details"?: unknown | undefined }
  readonly "FimRequest": { readonly "gate_id"?: string | null | undefined; readonly "model"?: string | null | undefined; readonly "temperature"?: number | null | undefined; readonly "top_p"?: number | null | undefined; readonly "max_tokens"?: number | null | undefined; readonly "stream"?: boolean | null | undefined; readonly "stop"?: string | readonly (string)[] | null | undefined; readonly "random_seed"?: number | null | undefined; readonly "metadata"?: { readonly [name: string]: unknown } | null | undefined; readonly "prompt_cache_key"?: string | null | undefined; readonly "prompt": string; readonly "suffix"?: string | null | undefined; readonly "min_tokens"?: number | null | undefined; readonly [name: string]: unknown }
  readonly "FoundEndUser": { readonly "user": string }
  readonly "FuseStopCount": { readonly "gateId": string | null; readonly "budgetId": string | null; readonly "name": string; readonly "sessions": number; readonly "users": number }
  readonly "FuseStopCounts": { readonly "data": readonly (Schemas["FuseStopCount"])[] }
  readonly "FusedStop": { readonly "kind": "session" | "user"; readonly "id": string; readonly "name": string | null; readonly "reason": string | null; readonly "createdAt": string }
  readonly "FusedStopList": { readonly "data": readonly (Schemas["FusedStop"])[] }
  readonly "Gate": { readonly "id": string; readonly "displayName": string; readonly "description": string; readonly "targets": readonly ({ readonly "model": string; readonly "weight"?: number | undefined; readonly "when"?: { readonly "budget": string; readonly "from": number } | undefined })[]; readonly "strategy": "fallback" | "weighted" | "fastest"; readonly "hedgeAfterMs": number | null; readonly "defaults": { readonly "instructions"?: string | undefined; readonly "temperature"?: number | undefined; readonly "topP"?: number | undefined; readonly "maxOutputTokens"?: number | undefined; readonly "reasoningEffort"?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max" | undefined }; readonly "overrides": "ignore" | "reject" | "allow"; readonly "aliases": readonly ({ readonly "name": string; readonly "isListed": boolean })[]; readonly "isCatchAll": boolean; readonly "facts": { readonly "contextTokens"?: number | undefined; readonly "maxOutputTokens"?: number | undefined; readonly "inputModalities"?: readonly ("text" | "image" | "audio" | "video" | "file" | "embeddings")[] | undefined; readonly "outputModalities"?: readonly ("text" | "image" | "audio" | "video" | "file" | "embeddings")[] | undefined; readonly "reasoningEfforts"?: readonly (string)[] | undefined }; readonly "resolvedFacts": { readonly "contextTokens"?: { readonly "value": number; readonly "source": "gate" | "targets" } | undefined; readonly "maxOutputTokens"?: { readonly "value": number; readonly "source": "gate" | "targets" } | undefined; readonly "inputModalities"?: { readonly "value": readonly (string)[]; readonly "source": "gate" | "targets" } | undefined; readonly "outputModalities"?: { readonly "value": readonly (string)[]; readonly "source": "gate" | "targets" } | undefined; readonly "reasoningEfforts"?: { readonly "value": readonly (string)[]; readonly "source": "gate" | "targets" } | undefined }; readonly "codexInstructions": string | null; readonly "usageHeaders": boolean; readonly "budgetHeaders": boolean; readonly "fuse": { readonly "usd": number | null; readonly "callsPerMinute": number | null; readonly "forMinutes": number } | null; readonly "adapt": "off" | "retry" | "on"; readonly "ignoreStore": boolean; readonly "timeoutMs": number | null; readonly "maxRetries": number; readonly "createdAt": string; readonly "updatedAt": string }
  readonly "GateFallback": { readonly "gate": string; readonly "target": string; readonly "answeredCalls": number; readonly "fallbackCalls": number; readonly "share": number; readonly "reason": "no_credential" | "out_of_credit" | "model_not_found" | "credential_refused" | "rate_limited" | "timeout" | "failed" | "slow" | "unknown"; readonly "message": string; readonly "state": "unknown" | "healthy" | "failing" | "resting" | "probing"; readonly "restsUntil": string | null; readonly "lastFailure": { readonly "code": string; readonly "status": number; readonly "at": string; readonly "fault"?: "out_of_credit" | "model_not_found" | undefined } | null }
  readonly "GateFallbackList": { readonly "data": readonly (Schemas["GateFallback"])[]; readonly "nextCursor": null; readonly "from": string }
  readonly "GateList": { readonly "data": readonly (Schemas["Gate"])[]; readonly "nextCursor": string | null }
  readonly "GateTest": { readonly "gateId": string; readonly "results": readonly ({ readonly "target": string; readonly "status": "ok" | "failed"; readonly "httpStatus"?: number | undefined; readonly "error"?: { readonly "code": string; readonly "message": string } | undefined; readonly "latencyMs": number; readonly "firstByteMs"?: number | undefined; readonly "dialect": string | null; readonly "usage"?: { readonly "inputTokens": number; readonly "outputTokens": number; readonly "cachedInputTokens": number; readonly "reasoningTokens": number } | undefined })[] }
  readonly "GatehouseChatAnswer": { readonly "id": string; readonly "object": "chat"; readonly "created_at": number; readonly "gate_id": string; readonly "model": string; readonly "content": string; readonly "reasoning"?: string | undefined; readonly "tool_calls"?: readonly ({ readonly "id": string; readonly "name": string; readonly "arguments": string })[] | undefined; readonly "finish_reason": "stop" | "length" | "tool_calls" | "content_filter"; readonly "usage": { readonly "input_tokens": number; readonly "output_tokens": number; readonly "cached_input_tokens": number; readonly "reasoning_tokens": number } | null; readonly "cost": { readonly "usd": number | null; readonly "status": "exact" | "estimated" | "unknown" }; readonly "latency_ms": number; readonly "attempts": readonly ({ readonly "target": string; readonly "status": number | null; readonly "ms": number })[] }
  readonly "GatehouseChatRequest": { readonly "gate_id": string; readonly "messages": readonly ({ readonly "role": "system"; readonly "content": string | readonly ({ readonly "type": "text"; readonly "text": string } | { readonly "type": "image"; readonly "url"?: string | undefined; readonly "data"?: string | undefined; readonly "media_type"?: string | undefined; readonly "detail"?: string | undefined } | { readonly "type": "file"; readonly "url"?: string | undefined; readonly "data"?: string | undefined; readonly "media_type"?: string | undefined; readonly "filename"?: string | undefined })[] } | { readonly "role": "user"; readonly "content": string | readonly ({ readonly "type": "text"; readonly "text": string } | { readonly "type": "image"; readonly "url"?: string | undefined; readonly "data"?: string | undefined; readonly "media_type"?: string | undefined; readonly "detail"?: string | undefined } | { readonly "type": "file"; readonly "url"?: string | undefined; readonly "data"?: string | undefined; readonly "media_type"?: string | undefined; readonly "filename"?: string | undefined })[] } | { readonly "role": "assistant"; readonly "content"?: string | readonly ({ readonly "type": "text"; readonly "text": string } | { readonly "type": "image"; readonly "url"?: string | undefined; readonly "data"?: string | undefined; readonly "media_type"?: string | undefined; readonly "detail"?: string | undefined } | { readonly "type": "file"; readonly "url"?: string | undefined; readonly "data"?: string | undefined; readonly "media_type"?: string | undefined; readonly "filename"?: string | undefined })[] | null | undefined; readonly "tool_calls"?: readonly ({ readonly "id": string; readonly "name": string; readonly "arguments": string })[] | undefined } | { readonly "role": "tool"; readonly "tool_call_id": string; readonly "content": string | readonly ({ readonly "type": "text"; readonly "text": string } | { readonly "type": "image"; readonly "url"?: string | undefined; readonly "data"?: string | undefined; readonly "media_type"?: string | undefined; readonly "detail"?: string | undefined } | { readonly "type": "file"; readonly "url"?: string | undefined; readonly "data"?: string | undefined; readonly "media_type"?: string | undefined; readonly "filename"?: string | undefined })[] })[]; readonly "vars"?: { readonly [name: string]: string | number | boolean } | undefined; readonly "instructions"?: string | undefined; readonly "tools"?: readonly ({ readonly "name": string; readonly "description"?: string | undefined; readonly "parameters"?: { readonly [name: string]: unknown } | undefined; readonly "strict"?: boolean | undefined })[] | undefined; readonly "tool_choice"?: "auto" | "none" | "required" | { readonly "name": string } | undefined; readonly "response_format"?: { readonly "type": "text" } | { readonly "type": "json" } | { readonly "type": "json_schema"; readonly "schema": { readonly [name: string]: unknown }; readonly "name"?: string | undefined; readonly "description"?: string | undefined; readonly "strict"?: boolean | undefined } | undefined; readonly "temperature"?: number | undefined; readonly "top_p"?: number | undefined; readonly "max_output_tokens"?: number | undefined; readonly "stop"?: string | readonly (string)[] | undefined; readonly "reasoning"?: { readonly "effort"?: string | undefined } | undefined; readonly "stream"?: boolean | undefined; readonly "metadata"?: { readonly [name: string]: unknown } | undefined }
  readonly "Health": { readonly "status": "ok"; readonly "version": string }
  readonly "ImportApiKey": { readonly "name": string; readonly "expiresAt"?: string | null | undefined; readonly "key": string }
  readonly "Invitation": { readonly "id": string; readonly "email": string; readonly "invitedBy": string; readonly "status": "open" | "accepted" | "expired"; readonly "createdAt": string; readonly "expiresAt": string }
  readonly "InvitationList": { readonly "data": readonly (Schemas["Invitation"])[]; readonly "nextCursor": string | null }
  readonly "InvitationOffer": { readonly "accountName": string; readonly "invitedBy": string | null; readonly "email": string; readonly "expiresAt": string }
  readonly "Latencies": { readonly "from": string; readonly "to": string; readonly "interval": string; readonly "ranges": readonly ({ readonly "fromMs": number; readonly "toMs": number | null })[]; readonly "data": readonly (Schemas["LatencyStep"])[] }
  readonly "LatencyStep": { readonly "start": string; readonly "calls": number; readonly "durationMs": readonly (number)[]; readonly "firstByteMs": readonly (number)[] }
  readonly "Log": { readonly "id": string; readonly "keyId": string; readonly "keyName": string | null; readonly "gateId": string; readonly "sentGateId": string | null; readonly "dialect": string; readonly "stream": boolean; readonly "target": string | null; readonly "attempts": number; readonly "outcome": "succeeded" | "failed" | "cancelled"; readonly "status": number; readonly "errorKind": "invalid_request" | "unauthorized" | "forbidden" | "gate_not_found" | "not_found" | "method_not_allowed" | "request_timeout" | "conflict" | "precondition_failed" | "payload_too_large" | "upgrade_not_supported" | "rate_limited" | "quota_exceeded" | "upstream_error" | "provider_auth_failed" | "upstream_timeout" | "unavailable" | "internal_error" | null; readonly "refusalCode": string | null; readonly "refusedBy": string | null; readonly "startedAt": string; readonly "firstByteMs": number | null; readonly "durationMs": number; readonly "usage": { readonly "inputTokens": number; readonly "outputTokens": number; readonly "cachedInputTokens": number; readonly "reasoningTokens": number; readonly "cacheWriteTokens"?: number | undefined } | null; readonly "credential": "own" | "platform" | null; readonly "cost": Schemas["Cost"]; readonly "user": string | null; readonly "userName": string | null; readonly "session": string | null; readonly "agent": string | null; readonly "parentAgent": string | null; readonly "tags": string | null; readonly "tagNames": string | null; readonly "steeredBy": string | null; readonly "refusals": number | null; readonly "attemptDetails": readonly (Schemas["Attempt"])[] | null }
  readonly "LogDetails": { readonly "id": string; readonly "keyId": string; readonly "keyName": string | null; readonly "gateId": string; readonly "sentGateId": string | null; readonly "dialect": string; readonly "stream": boolean; readonly "target": string | null; readonly "attempts": number; readonly "outcome": "succeeded" | "failed" | "cancelled"; readonly "status": number; readonly "errorKind": "invalid_request" | "unauthorized" | "forbidden" | "gate_not_found" | "not_found" | "method_not_allowed" | "request_timeout" | "conflict" | "precondition_failed" | "payload_too_large" | "upgrade_not_supported" | "rate_limited" | "quota_exceeded" | "upstream_error" | "provider_auth_failed" | "upstream_timeout" | "unavailable" | "internal_error" | null; readonly "refusalCode": string | null; readonly "refusedBy": string | null; readonly "startedAt": string; readonly "firstByteMs": number | null; readonly "durationMs": number; readonly "usage": { readonly "inputTokens": number; readonly "outputTokens": number; readonly "cachedInputTokens": number; readonly "reasoningTokens": number; readonly "cacheWriteTokens"?: number | undefined } | null; readonly "credential": "own" | "platform" | null; readonly "cost": Schemas["CostWithParts"]; readonly "user": string | null; readonly "userName": string | null; readonly "session": string | null; readonly "agent": string | null; readonly "parentAgent": string | null; readonly "tags": string | null; readonly "tagNames": string | null; readonly "steeredBy": string | null; readonly "refusals": number | null; readonly "attemptDetails": readonly (Schemas["Attempt"])[] | null }
  readonly "Member": { readonly "id": string; readonly "email": string; readonly "name": string; readonly "role": "owner" | "member"; readonly "createdAt": string; readonly "stop": { readonly "kind": "member" | "access-token" | "fuse"; readonly "reason": string | null; readonly "createdAt": string; readonly "createdBy": string | null } | null }
  readonly "MemberList": { readonly "data": readonly (Schemas["Member"])[]; readonly "nextCursor": string | null }
  readonly "Message": { readonly "id": string; readonly "type": "message"; readonly "role": "assistant"; readonly "model": string; readonly "content": readonly ({ readonly "type": string; readonly [name: string]: unknown })[]; readonly "stop_reason": string | null; readonly "usage": { readonly "input_tokens": number; readonly "output_tokens": number; readonly [name: string]: unknown }; readonly [name: string]: unknown }
  readonly "MessagesError": { readonly "type": "error"; readonly "error": { readonly "type": string; readonly "message": string; readonly "details"?: unknown | undefined; readonly [name: string]: unknown }; readonly [name: string]: unknown }
  readonly "MessagesModel": { readonly "type": "model"; readonly "id": string; readonly "display_name": string; readonly "created_at": string; readonly "max_input_tokens": number | null; readonly "max_tokens": number | null; readonly "capabilities": { readonly [name: string]: unknown } | null; readonly [name: string]: unknown }
  readonly "MessagesModelList": { readonly "data": readonly (Schemas["MessagesModel"])[]; readonly "has_more": boolean; readonly "first_id": string | null; readonly "last_id": string | null }
  readonly "MessagesRequest": { readonly "gate_id"?: string | null | undefined; readonly "model"?: string | null | undefined; readonly "messages": readonly ({ readonly "role": string; readonly [name: string]: unknown })[]; readonly "system"?: string | readonly ({ readonly [name: string]: unknown })[] | null | undefined; readonly "tools"?: readonly ({ readonly [name: string]: unknown })[] | null | undefined; readonly "tool_choice"?: { readonly "type": string; readonly [name: string]: unknown } | null | undefined; readonly "thinking"?: { readonly "type": string; readonly [name: string]: unknown } | null | undefined; readonly "max_tokens": number; readonly "stream"?: boolean | null | undefined; readonly "temperature"?: number | null | undefined; readonly "top_p"?: number | null | undefined; readonly "top_k"?: number | null | undefined; readonly "stop_sequences"?: readonly (string)[] | null | undefined; readonly "output_config"?: { readonly [name: string]: unknown } | null | undefined; readonly "metadata"?: { readonly "user_id"?: string | null | undefined; readonly [name: string]: unknown } | null | undefined; readonly "service_tier"?: string | null | undefined; readonly [name: string]: unknown }
  readonly "Model": { readonly "id": string; readonly "object": "model"; readonly "created": number; readonly "owned_by": string; readonly "name": string; readonly "description"?: string | undefined; readonly "context_length"?: number | undefined; readonly "max_output_tokens"?: number | undefined; readonly "input_modalities"?: readonly (string)[] | undefined; readonly "output_modalities"?: readonly (string)[] | undefined; readonly "architecture"?: { readonly "input_modalities"?: readonly (string)[] | undefined; readonly "output_modalities"?: readonly (string)[] | undefined } | undefined; readonly "top_provider"?: { readonly "context_length"?: number | undefined; readonly "max_completion_tokens"?: number | undefined } | undefined; readonly "pricing"?: { readonly "prompt": string; readonly "completion": string; readonly "input_cache_read": string } | undefined }
  readonly "ModelList": { readonly "object": "list"; readonly "data": readonly (Schemas["Model"])[]; readonly "models"?: readonly ({ readonly "slug": string; readonly "base_instructions": string; readonly [name: string]: unknown })[] | undefined }
  readonly "ModelPrice": { readonly "model": string; readonly "like": string | null; readonly "prices": readonly ({ readonly "from"?: string | undefined; readonly "input"?: number | undefined; readonly "output"?: number | undefined; readonly "cachedInput"?: number | undefined; readonly "cacheWrite"?: number | undefined; readonly "cacheWriteHour"?: number | undefined; readonly "inputAudio"?: number | undefined; readonly "outputAudio"?: number | undefined; readonly "outputImage"?: number | undefined; readonly "perRequest"?: number | undefined; readonly "above"?: readonly ({ readonly "inputTokens": number; readonly "input"?: number | undefined; readonly "output"?: number | undefined; readonly "cachedInput"?: number | undefined; readonly "cacheWrite"?: number | undefined; readonly "cacheWriteHour"?: number | undefined; readonly "inputAudio"?: number | undefined; readonly "outputAudio"?: number | undefined; readonly "outputImage"?: number | undefined; readonly "perRequest"?: number | undefined })[] | undefined; readonly "tiers"?: { readonly [name: string]: { readonly "input"?: number | undefined; readonly "output"?: number | undefined; readonly "cachedInput"?: number | undefined; readonly "cacheWrite"?: number | undefined; readonly "cacheWriteHour"?: number | undefined; readonly "inputAudio"?: number | undefined; readonly "outputAudio"?: number | undefined; readonly "outputImage"?: number | undefined; readonly "perRequest"?: number | undefined } } | undefined })[] | null; readonly "createdAt": string; readonly "updatedAt": string }
  readonly "NestedError": { readonly "error": { readonly "message": string; readonly "type": string; readonly "param"?: string | null | undefined; readonly "code"?: string | number | null | undefined; readonly [name: string]: unknown }; readonly [name: string]: unknown }
  readonly "OidcRedirect": { readonly "url": string }
  readonly "OwnedModel": { readonly "slug": string; readonly "displayName": string; readonly "dialect": "openai-chat" | "openai-responses" | "mistral-fim" | "anthropic-messages" | "openai-embeddings"; readonly "baseUrl": string; readonly "upstreamModelId": string; readonly "credentialHeader": "auto" | "authorization" | "x-api-key"; readonly "fimEndpoint": "auto" | "fim-completions" | "infill" | "completions-suffix" | "completions-template"; readonly "fimTemplate": "auto" | "codegemma" | "codellama" | "codestral" | "deepseek-coder" | "granite-code" | "qwen-coder" | "starcoder2"; readonly "pricingInput": number; readonly "pricingOutput": number; readonly "pricingCachedInput": number; readonly "probe": { readonly "status": "checking" | "loading" | "reachable" | "unreachable" | "unknown"; readonly "checkedAt": string; readonly "latencyMs": number; readonly "httpStatus"?: number | undefined; readonly "detail"?: string | undefined; readonly "found"?: { readonly "credentialHeader"?: "authorization" | "x-api-key" | undefined; readonly "embeddings"?: boolean | undefined; readonly "countTokens"?: boolean | undefined; readonly "fimEndpoint"?: "fim-completions" | "infill" | "completions-suffix" | "completions-template" | undefined } | undefined } | null; readonly "credentialSetAt": string | null; readonly "createdAt": string; readonly "updatedAt": string }
  readonly "OwnedModelList": { readonly "data": readonly (Schemas["OwnedModel"])[]; readonly "nextCursor": string | null }
  readonly "Percentiles": { readonly "p50": number | null; readonly "p95": number | null; readonly "p99": number | null }
  readonly "Provider": { readonly "id": string; readonly "name": string; readonly "docs": string | null; readonly "dialects": readonly (string)[]; readonly "configured": boolean; readonly "credential": "own" | "platform" | null; readonly "hasAddress": boolean }
  readonly "ProviderKey": { readonly "provider": string; readonly "maskedKey": string; readonly "active": boolean; readonly "createdAt": string; readonly "updatedAt": string; readonly "lastUsedAt": string | null }
  readonly "ProviderKeyList": { readonly "data": readonly (Schemas["ProviderKey"])[]; readonly "nextCursor": string | null }
  readonly "ProviderList": { readonly "data": readonly (Schemas["Provider"])[]; readonly "nextCursor": string | null }
  readonly "ProviderModel": { readonly "provider": string; readonly "id": string; readonly "name": string | null; readonly "contextTokens": number | null; readonly "maxOutputTokens": number | null; readonly "inputModalities": readonly ("text" | "image" | "audio" | "video" | "file" | "embeddings")[] | null; readonly "outputModalities": readonly ("text" | "image" | "audio" | "video" | "file" | "embeddings")[] | null; readonly "reasoningEfforts": readonly (string)[] | null; readonly "inputUsdPerMillion": number | null; readonly "cachedInputUsdPerMillion": number | null; readonly "outputUsdPerMillion": number | null; readonly "priceSource": string | null; readonly "priceFrom": string | null; readonly "isPriceEstimated": boolean; readonly "isAlias": boolean; readonly "retiresOn": string | null; readonly "credential": "own" | "platform" | null; readonly "health": { readonly "state": "unknown" | "healthy" | "failing" | "resting" | "probing"; readonly "restsUntil": string | null; readonly "failuresInARow": number; readonly "averageFirstByteMs": number | null; readonly "lastAnsweredAt": string | null; readonly "lastFailure": { readonly "code": string; readonly "status": number; readonly "at": string; readonly "fault"?: "out_of_credit" | "model_not_found" | undefined } | null } | null }
  readonly "ProviderModelDetails": { readonly "provider": string; readonly "id": string; readonly "name": string | null; readonly "contextTokens": number | null; readonly "maxOutputTokens": number | null; readonly "inputModalities": readonly ("text" | "image" | "audio" | "video" | "file" | "embeddings")[] | null; readonly "outputModalities": readonly ("text" | "image" | "audio" | "video" | "file" | "embeddings")[] | null; readonly "reasoningEfforts": readonly (string)[] | null; readonly "inputUsdPerMillion": number | null; readonly "cachedInputUsdPerMillion": number | null; readonly "outputUsdPerMillion": number | null; readonly "priceSource": string | null; readonly "priceFrom": string | null; readonly "isPriceEstimated": boolean; readonly "isAlias": boolean; readonly "retiresOn": string | null; readonly "credential": "own" | "platform" | null; readonly "health": { readonly "state": "unknown" | "healthy" | "failing" | "resting" | "probing"; readonly "restsUntil": string | null; readonly "failuresInARow": number; readonly "averageFirstByteMs": number | null; readonly "lastAnsweredAt": string | null; readonly "lastFailure": { readonly "code": string; readonly "status": number; readonly "at": string; readonly "fault"?: "out_of_credit" | "model_not_found" | undefined } | null } | null; readonly "rules": readonly (Schemas["RequestRule"])[]; readonly "storedPrice": { readonly "model": string; readonly "like": string | null; readonly "prices": readonly ({ readonly "from"?: string | undefined; readonly "input"?: number | undefined; readonly "output"?: number | undefined; readonly "cachedInput"?: number | undefined; readonly "cacheWrite"?: number | undefined; readonly "cacheWriteHour"?: number | undefined; readonly "inputAudio"?: number | undefined; readonly "outputAudio"?: number | undefined; readonly "outputImage"?: number | undefined; readonly "perRequest"?: number | undefined; readonly "above"?: readonly ({ readonly "inputTokens": number; readonly "input"?: number | undefined; readonly "output"?: number | undefined; readonly "cachedInput"?: number | undefined; readonly "cacheWrite"?: number | undefined; readonly "cacheWriteHour"?: number | undefined; readonly "inputAudio"?: number | undefined; readonly "outputAudio"?: number | undefined; readonly "outputImage"?: number | undefined; readonly "perRequest"?: number | undefined })[] | undefined; readonly "tiers"?: { readonly [name: string]: { readonly "input"?: number | undefined; readonly "output"?: number | undefined; readonly "cachedInput"?: number | undefined; readonly "cacheWrite"?: number | undefined; readonly "cacheWriteHour"?: number | undefined; readonly "inputAudio"?: number | undefined; readonly "outputAudio"?: number | undefined; readonly "outputImage"?: number | undefined; readonly "perRequest"?: number | undefined } } | undefined })[] | null; readonly "createdAt": string; readonly "updatedAt": string } | null }
  readonly "Readiness": { readonly "status": "ready" | "not ready"; readonly "checks": { readonly [name: string]: { readonly "status": string; readonly [name: string]: unknown } } }
  readonly "RefusedCalls": { readonly "from": string; readonly "to": string; readonly "interval": string; readonly "data": readonly (Schemas["RefusedSum"])[] }
  readonly "RefusedSum": { readonly "start": string; readonly "status": number; readonly "errorKind": "invalid_request" | "unauthorized" | "forbidden" | "gate_not_found" | "not_found" | "method_not_allowed" | "request_timeout" | "conflict" | "precondition_failed" | "payload_too_large" | "upgrade_not_supported" | "rate_limited" | "quota_exceeded" | "upstream_error" | "provider_auth_failed" | "upstream_timeout" | "unavailable" | "internal_error" | null; readonly "calls": number }
  readonly "Reload": { readonly "id": string; readonly "status": "reloaded" | "incomplete"; readonly "nodes": readonly (Schemas["ReloadedNode"])[] }
  readonly "ReloadRequest": Record<string, never>
  readonly "ReloadedNode": { readonly "node": string | null; readonly "host": string; readonly "worker": number | null; readonly "status": "reloaded" | "refused" | "no_answer"; readonly "digest": string | null; readonly "faults": readonly ({ readonly "file": string | null; readonly "line": number | null; readonly "message": string })[]; readonly "changed": readonly (string)[]; readonly "needsRestart": readonly (string)[] }
  readonly "RequestRule": { readonly "name": string; readonly "value": boolean | number | readonly (string)[] | { readonly [name: string]: string | number | boolean }; readonly "source": string | null; readonly "checked": string | null }
  readonly "Response": { readonly "id": string; readonly "object": "response"; readonly "created_at": number; readonly "status": string; readonly "model": string; readonly "output": readonly ({ readonly "type": string; readonly [name: string]: unknown })[]; readonly "usage"?: { readonly "input_tokens": number; readonly "output_tokens": number; readonly "total_tokens": number; readonly [name: string]: unknown } | null | undefined; readonly [name: string]: unknown }
  readonly "ResponsesRequest": { readonly "model": string; readonly "input": string | readonly ({ readonly [name: string]: unknown })[]; readonly "instructions"?: string | null | undefined; readonly "tools"?: readonly ({ readonly [name: string]: unknown })[] | null | undefined; readonly "tool_choice"?: string | { readonly [name: string]: unknown } | null | undefined; readonly "max_output_tokens"?: number | null | undefined; readonly "reasoning"?: { readonly "effort"?: string | null | undefined; readonly [name: string]: unknown } | null | undefined; readonly "include"?: readonly (string)[] | null | undefined; readonly "temperature"?: number | null | undefined; readonly "top_p"?: number | null | undefined; readonly "stream"?: boolean | null | undefined; readonly "store"?: false | undefined; readonly "background"?: false | undefined; readonly "previous_response_id"?: null | undefined; readonly "conversation"?: null | undefined; readonly "prompt"?: null | undefined; readonly [name: string]: unknown }
  readonly "RotateApiKey": { readonly "oldEndsInSeconds"?: number | undefined }
  readonly "SavedOwnedModel": { readonly "slug": string; readonly "displayName": string; readonly "dialect": "openai-chat" | "openai-responses" | "mistral-fim" | "anthropic-messages" | "openai-embeddings"; readonly "baseUrl": string; readonly "upstreamModelId": string; readonly "credentialHeader": "auto" | "authorization" | "x-api-key"; readonly "fimEndpoint": "auto" | "fim-completions" | "infill" | "completions-suffix" | "completions-template"; readonly "fimTemplate": "auto" | "codegemma" | "codellama" | "codestral" | "deepseek-coder" | "granite-code" | "qwen-coder" | "starcoder2"; readonly "pricingInput": number; readonly "pricingOutput": number; readonly "pricingCachedInput": number; readonly "probe": { readonly "status": "checking" | "loading" | "reachable" | "unreachable" | "unknown"; readonly "checkedAt": string; readonly "latencyMs": number; readonly "httpStatus"?: number | undefined; readonly "detail"?: string | undefined; readonly "found"?: { readonly "credentialHeader"?: "authorization" | "x-api-key" | undefined; readonly "embeddings"?: boolean | undefined; readonly "countTokens"?: boolean | undefined; readonly "fimEndpoint"?: "fim-completions" | "infill" | "completions-suffix" | "completions-template" | undefined } | undefined } | null; readonly "credentialSetAt": string | null; readonly "createdAt": string; readonly "updatedAt": string; readonly "warnings"?: readonly ({ readonly "code": "probe_failed"; readonly "message": string })[] | undefined }
  readonly "SavedProviderKey": { readonly "provider": string; readonly "maskedKey": string; readonly "active": boolean; readonly "createdAt": string; readonly "updatedAt": string; readonly "lastUsedAt": string | null; readonly "probe": { readonly "status": "accepted" | "refused" | "unknown" | "not_probed"; readonly "httpStatus"?: number | undefined; readonly "detail": string }; readonly "warnings": readonly ({ readonly "code": "key_refused" | "probe_failed"; readonly "message": string })[] }
  readonly "SetModelPrice": { readonly "like"?: string | undefined; readonly "prices"?: readonly ({ readonly "from"?: string | undefined; readonly "input"?: number | undefined; readonly "output"?: number | undefined; readonly "cachedInput"?: number | undefined; readonly "cacheWrite"?: number | undefined; readonly "cacheWriteHour"?: number | undefined; readonly "inputAudio"?: number | undefined; readonly "outputAudio"?: number | undefined; readonly "outputImage"?: number | undefined; readonly "perRequest"?: number | undefined; readonly "above"?: readonly ({ readonly "inputTokens": number; readonly "input"?: number | undefined; readonly "output"?: number | undefined; readonly "cachedInput"?: number | undefined; readonly "cacheWrite"?: number | undefined; readonly "cacheWriteHour"?: number | undefined; readonly "inputAudio"?: number | undefined; readonly "outputAudio"?: number | undefined; readonly "outputImage"?: number | undefined; readonly "perRequest"?: number | undefined })[] | undefined; readonly "tiers"?: { readonly [name: string]: { readonly "input"?: number | undefined; readonly "output"?: number | undefined; readonly "cachedInput"?: number | undefined; readonly "cacheWrite"?: number | undefined; readonly "cacheWriteHour"?: number | undefined; readonly "inputAudio"?: number | undefined; readonly "outputAudio"?: number | undefined; readonly "outputImage"?: number | undefined; readonly "perRequest"?: number | undefined } } | undefined })[] | undefined }
  readonly "SetProviderKey": { readonly "key": string; readonly "active"?: boolean | undefined }
  readonly "SignIn": { readonly "email": string; readonly "password": string }
  readonly "SignInOptions": { readonly "signUp": "invitation" | "open" | "closed"; readonly "oidc": boolean; readonly "hasOwner": boolean }
  readonly "SignUp": { readonly "email": string; readonly "name": string; readonly "password": string; readonly "invitation"?: string | undefined }
  readonly "SimulateBudget": { readonly "name"?: string | undefined; readonly "scope"?: "account" | "key" | "gate" | "user" | "tag" | "each-user" | "each-key" | undefined; readonly "keyId"?: string | undefined; readonly "gateId"?: string | undefined; readonly "member"?: string | undefined; readonly "endUser"?: string | undefined; readonly "tag"?: string | undefined; readonly "limitTokens"?: number | undefined; readonly "limitUsd"?: number | undefined; readonly "period": "day" | "week" | "month" | "total"; readonly "timeZone"?: string | undefined; readonly "unpriced"?: "estimate" | "refuse" | "allow" | undefined; readonly "message"?: string | null | undefined; readonly "atLimit"?: "refuse" | "cheaper" | "free-only" | undefined; readonly "refuseAt"?: number | null | undefined; readonly "fuse"?: { readonly "usd"?: number | null | undefined; readonly "callsPerMinute"?: number | null | undefined; readonly "forMinutes"?: number | undefined } | null | undefined; readonly "alertAt"?: readonly (number)[] | undefined; readonly "from"?: string | undefined; readonly "to"?: string | undefined }
  readonly "SimulatedHead": { readonly "type": "account" | "key" | "gate" | "user" | "tag"; readonly "id": string; readonly "name": string | null; readonly "admitted": { readonly "calls": number; readonly "tokens": number; readonly "usd": number }; readonly "moved": { readonly "calls": number; readonly "tokens": number; readonly "usd": number; readonly "savedUsd": number }; readonly "refused": { readonly "calls": number; readonly "tokens": number; readonly "usd": number }; readonly "firstRefusedAt": string | null; readonly "firstMovedAt": string | null }
  readonly "SimulatedPeriod": { readonly "from": string; readonly "to": string; readonly "admitted": { readonly "calls": number; readonly "tokens": number; readonly "usd": number }; readonly "moved": { readonly "calls": number; readonly "tokens": number; readonly "usd": number; readonly "savedUsd": number }; readonly "refused": { readonly "calls": number; readonly "tokens": number; readonly "usd": number }; readonly "firstRefusedAt": string | null; readonly "firstMovedAt": string | null }
  readonly "StopReport": { readonly "stopped": true; readonly "callsEnded": number; readonly "nodesNotHeard": number }
  readonly "StopRequest": { readonly "reason"?: string | undefined }
  readonly "Tag": { readonly "id": string; readonly "name": string; readonly "description": string; readonly "members": readonly (string)[]; readonly "createdAt": string }
  readonly "TagList": { readonly "data": readonly (Schemas["Tag"])[]; readonly "nextCursor": string | null }
  readonly "TargetHealth": { readonly "target": string; readonly "configured": boolean; readonly "state": "unknown" | "healthy" | "failing" | "resting" | "probing"; readonly "restsUntil": string | null; readonly "failuresInARow": number; readonly "averageFirstByteMs": number | null; readonly "lastAnsweredAt": string | null; readonly "lastFailure": { readonly "code": string; readonly "status": number; readonly "at": string; readonly "fault"?: "out_of_credit" | "model_not_found" | undefined } | null }
  readonly "TargetHealthList": { readonly "data": readonly (Schemas["TargetHealth"])[]; readonly "nextCursor": null; readonly "seenSince": string }
  readonly "TestGate": Record<string, never>
  readonly "TokenCount": { readonly "input_tokens": number; readonly [name: string]: unknown }
  readonly "UpdateAccessToken": { readonly "name"?: string | undefined; readonly "expiresAt"?: string | null | undefined; readonly "tags"?: readonly (string)[] | undefined; readonly "owner"?: { readonly "type": "member" | "tag"; readonly "id": string } | null | undefined; readonly "gates"?: readonly (string)[] | null | undefined; readonly "requestsPerMinute"?: number | null | undefined; readonly "tokensPerMinute"?: number | null | undefined; readonly "concurrentCalls"?: number | null | undefined; readonly "ipRanges"?: readonly (string)[] | null | undefined; readonly "overrides"?: boolean | undefined }
  readonly "UpdateAccount": { readonly "name"?: string | undefined }
  readonly "UpdateApiKey": { readonly "name"?: string | undefined; readonly "expiresAt"?: string | null | undefined; readonly "user"?: string | null | undefined; readonly "tags"?: readonly (string)[] | undefined }
  readonly "UpdateAttribution": { readonly "membersAndTags"?: boolean | undefined; readonly "sessions"?: boolean | undefined; readonly "endUsers"?: boolean | undefined; readonly "peopleFigures"?: "hidden" | "owner" | "administrators" | undefined }
  readonly "UpdateBudget": { readonly "name"?: string | undefined; readonly "limitTokens"?: number | undefined; readonly "limitUsd"?: number | undefined; readonly "unpriced"?: "estimate" | "refuse" | "allow" | undefined; readonly "message"?: string | null | undefined; readonly "raise"?: Schemas["BudgetRaise"] | undefined; readonly "atLimit"?: "refuse" | "cheaper" | "free-only" | undefined; readonly "refuseAt"?: number | null | undefined; readonly "fuse"?: { readonly "usd"?: number | null | undefined; readonly "callsPerMinute"?: number | null | undefined; readonly "forMinutes"?: number | undefined } | null | undefined; readonly "alertAt"?: readonly (number)[] | undefined }
  readonly "UpdateGate": { readonly "displayName"?: string | undefined; readonly "description"?: string | undefined; readonly "targets"?: readonly ({ readonly "model": string; readonly "weight"?: number | undefined; readonly "when"?: { readonly "budget": string; readonly "from": number } | undefined })[] | undefined; readonly "strategy"?: "fallback" | "weighted" | "fastest" | undefined; readonly "hedgeAfterMs"?: number | null | undefined; readonly "defaults"?: { readonly "instructions"?: string | undefined; readonly "temperature"?: number | undefined; readonly "topP"?: number | undefined; readonly "maxOutputTokens"?: number | undefined; readonly "reasoningEffort"?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max" | undefined } | undefined; readonly "overrides"?: "ignore" | "reject" | "allow" | undefined; readonly "aliases"?: readonly (string | { readonly "name": string; readonly "isListed"?: boolean | undefined })[] | undefined; readonly "isCatchAll"?: boolean | undefined; readonly "facts"?: { readonly "contextTokens"?: number | undefined; readonly "maxOutputTokens"?: number | undefined; readonly "inputModalities"?: readonly ("text" | "image" | "audio" | "video" | "file" | "embeddings")[] | undefined; readonly "outputModalities"?: readonly ("text" | "image" | "audio" | "video" | "file" | "embeddings")[] | undefined; readonly "reasoningEfforts"?: readonly (string)[] | undefined } | undefined; readonly "codexInstructions"?: string | null | undefined; readonly "usageHeaders"?: boolean | undefined; readonly "budgetHeaders"?: boolean | undefined; readonly "fuse"?: { readonly "usd"?: number | null | undefined; readonly "callsPerMinute"?: number | null | undefined; readonly "forMinutes"?: number | undefined } | null | undefined; readonly "adapt"?: "off" | "retry" | "on" | undefined; readonly "ignoreStore"?: boolean | undefined; readonly "timeoutMs"?: number | null | undefined; readonly "maxRetries"?: number | undefined }
  readonly "UpdateMember": { readonly "role": "owner" }
  readonly "UpdateOwnedModel": { readonly "displayName"?: string | undefined; readonly "upstreamModelId"?: string | undefined; readonly "credential"?: string | undefined; readonly "credentialHeader"?: "auto" | "authorization" | "x-api-key" | undefined; readonly "fimEndpoint"?: "auto" | "fim-completions" | "infill" | "completions-suffix" | "completions-template" | undefined; readonly "fimTemplate"?: "auto" | "codegemma" | "codellama" | "codestral" | "deepseek-coder" | "granite-code" | "qwen-coder" | "starcoder2" | undefined; readonly "pricingInput"?: number | undefined; readonly "pricingOutput"?: number | undefined; readonly "pricingCachedInput"?: number | undefined }
  readonly "UpdateProviderKey": { readonly "active": boolean }
  readonly "UpdateTag": { readonly "name"?: string | undefined; readonly "description"?: string | undefined; readonly "members"?: readonly (string)[] | undefined }
  readonly "UpdateWebhook": { readonly "url"?: string | undefined; readonly "secret"?: string | undefined; readonly "events"?: readonly ("budget.threshold" | "budget.exhausted" | "fuse.blown" | "provider.degraded" | "target.unusable" | "token.expiring" | "store.set-back" | "redis.other")[] | undefined; readonly "active"?: boolean | undefined }
  readonly "UsageSession": { readonly "id": string; readonly "keyId": string; readonly "keyName": string | null; readonly "user": string | null; readonly "userName": string | null; readonly "firstAt": string; readonly "lastAt": string; readonly "calls": number; readonly "errors": number; readonly "refused": number; readonly "cancelled": number; readonly "tokens": { readonly "input": number; readonly "output": number; readonly "cachedInput": number; readonly "cacheWrite": number; readonly "reasoning": number; readonly "largestInput": number }; readonly "cost": { readonly "usd": number; readonly "estimatedCalls": number; readonly "unknownCalls": number } }
  readonly "UsageSessionAgent": { readonly "agent": string | null; readonly "parentAgent": string | null; readonly "firstAt": string; readonly "lastAt": string; readonly "calls": number; readonly "errors": number; readonly "refused": number; readonly "tokens": { readonly "input": number; readonly "output": number; readonly "cachedInput": number }; readonly "cost": { readonly "usd": number } }
  readonly "UsageSessionDetails": { readonly "id": string; readonly "keyId": string; readonly "keyName": string | null; readonly "user": string | null; readonly "userName": string | null; readonly "firstAt": string; readonly "lastAt": string; readonly "calls": number; readonly "errors": number; readonly "refused": number; readonly "cancelled": number; readonly "tokens": { readonly "input": number; readonly "output": number; readonly "cachedInput": number; readonly "cacheWrite": number; readonly "reasoning": number; readonly "largestInput": number }; readonly "cost": { readonly "usd": number; readonly "estimatedCalls": number; readonly "unknownCalls": number }; readonly "agents": readonly (Schemas["UsageSessionAgent"])[]; readonly "data": readonly (Schemas["Log"])[]; readonly "nextCursor": string | null }
  readonly "UsageSessionList": { readonly "data": readonly (Schemas["UsageSession"])[]; readonly "nextCursor": string | null }
  readonly "UsageSum": { readonly "start": string; readonly "group": string | null; readonly "name": string | null; readonly "thenGroup": string | null; readonly "thenName": string | null; readonly "isRest": boolean; readonly "lastDay": string | null; readonly "calls": number; readonly "errors": number; readonly "refused": number; readonly "cancelled": number; readonly "tokens": { readonly "input": number; readonly "output": number; readonly "cachedInput": number; readonly "cacheWrite": number; readonly "reasoning": number; readonly "unreportedCalls": number }; readonly "cost": { readonly "usd": number; readonly "estimatedCalls": number; readonly "unknownCalls": number; readonly "unpricedCalls": number }; readonly "durationMs": Schemas["Percentiles"]; readonly "firstByteMs": Schemas["Percentiles"] }
  readonly "UserSession": { readonly "id": string; readonly "current": boolean; readonly "createdAt": string; readonly "expiresAt": string; readonly "address": string | null; readonly "userAgent": string | null }
  readonly "UserSessionList": { readonly "data": readonly (Schemas["UserSession"])[]; readonly "nextCursor": string | null }
  readonly "VerifiedCosts": { readonly "source": string; readonly "checked": number; readonly "fixed": number; readonly "incomparable": readonly ({ readonly "source": string | null; readonly "calls": number })[]; readonly "models": readonly ({ readonly "target": string | null; readonly "calls": number; readonly "storedUsd": number; readonly "computedUsd": number })[]; readonly "differences": readonly ({ readonly "id": string; readonly "target": string | null; readonly "stored": Schemas["Cost"]; readonly "computed": Schemas["Cost"] })[]; readonly "nextCursor": string | null }
  readonly "VerifyCosts": { readonly "from"?: string | undefined; readonly "to"?: string | undefined; readonly "target"?: string | undefined; readonly "wrong"?: readonly (string)[] | undefined; readonly "fix"?: boolean | undefined; readonly "cursor"?: string | undefined }
  readonly "Webhook": { readonly "id": string; readonly "url": string; readonly "events": readonly ("budget.threshold" | "budget.exhausted" | "fuse.blown" | "provider.degraded" | "target.unusable" | "token.expiring" | "store.set-back" | "redis.other")[]; readonly "active": boolean; readonly "createdAt": string; readonly "updatedAt": string }
  readonly "WebhookList": { readonly "data": readonly (Schemas["Webhook"])[]; readonly "nextCursor": string | null }
  readonly "WebhookTest": { readonly "delivered": boolean; readonly "status": number | null; readonly "detail": string }
  readonly "Welcome": { readonly "name": "Gatehouse"; readonly "version": string; readonly "dashboard": string; readonly "docs": string; readonly "openapi": string }
}

export interface Api {
  readonly "DELETE /v1/access-tokens/{id}": {
    readonly question: { readonly path: { readonly "id": string } }
    readonly answer: Schemas["StopReport"]
  }
  readonly "DELETE /v1/access-tokens/{id}/stop": {
    readonly question: { readonly path: { readonly "id": string } }
    readonly answer: null
  }
  readonly "DELETE /v1/account/attribution/hash-key": {
    readonly question: Record<never, never>
    readonly answer: null
  }
  readonly "DELETE /v1/account/end-users/{name}": {
    readonly question: { readonly path: { readonly "name": string } }
    readonly answer: Schemas["ErasedEndUser"]
  }
  readonly "DELETE /v1/budgets/{id}": {
    readonly question: { readonly path: { readonly "id": string } }
    readonly answer: null
  }
  readonly "DELETE /v1/budgets/{id}/stops/{kind}/{head}": {
    readonly question: { readonly path: { readonly "id": string; readonly "kind": "session" | "user"; readonly "head": string } }
    readonly answer: null
  }
  readonly "DELETE /v1/gates/{id}": {
    readonly question: { readonly path: { readonly "id": string } }
    readonly answer: null
  }
  readonly "DELETE /v1/gates/{id}/stops/{kind}/{head}": {
    readonly question: { readonly path: { readonly "id": string; readonly "kind": "session" | "user"; readonly "head": string } }
    readonly answer: null
  }
  readonly "DELETE /v1/invitations/{id}": {
    readonly question: { readonly path: { readonly "id": string } }
    readonly answer: null
  }
  readonly "DELETE /v1/keys/{id}": {
    readonly question: { readonly path: { readonly "id": string } }
    readonly answer: Schemas["StopReport"]
  }
  readonly "DELETE /v1/members/{id}": {
    readonly question: { readonly path: { readonly "id": string } }
    readonly answer: null
  }
  readonly "DELETE /v1/members/{id}/stop": {
    readonly question: { readonly path: { readonly "id": string } }
    readonly answer: null
  }
  readonly "DELETE /v1/owned-models/{slug}": {
    readonly question: { readonly path: { readonly "slug": string } }
    readonly answer: null
  }
  readonly "DELETE /v1/owned-models/{slug}/credential": {
    readonly question: { readonly path: { readonly "slug": string } }
    readonly answer: Schemas["SavedOwnedModel"]
  }
  readonly "DELETE /v1/provider-keys/{provider}": {
    readonly question: { readonly path: { readonly "provider": string } }
    readonly answer: null
  }
  readonly "DELETE /v1/provider-models/{provider}/{model}": {
    readonly question: { readonly path: { readonly "provider": string; readonly "model": string } }
    readonly answer: null
  }
  readonly "DELETE /v1/session": {
    readonly question: Record<never, never>
    readonly answer: null
  }
  readonly "DELETE /v1/sessions/{id}": {
    readonly question: { readonly path: { readonly "id": string } }
    readonly answer: null
  }
  readonly "DELETE /v1/tags/{id}": {
    readonly question: { readonly path: { readonly "id": string } }
    readonly answer: null
  }
  readonly "DELETE /v1/webhooks/{id}": {
    readonly question: { readonly path: { readonly "id": string } }
    readonly answer: null
  }
  readonly "GET /": {
    readonly question: Record<never, never>
    readonly answer: Schemas["Welcome"]
  }
  readonly "GET /alt/v1/models": {
    readonly question: Record<never, never>
    readonly answer: Schemas["AltModelList"]
  }
  readonly "GET /alt/v1/models/{id}": {
    readonly question: { readonly path: { readonly "id": string } }
    readonly answer: Schemas["AltModel"]
  }
  readonly "GET /docs": {
    readonly question: Record<never, never>
    readonly answer: null
  }
  readonly "GET /healthz": {
    readonly question: Record<never, never>
    readonly answer: Schemas["Health"]
  }
  readonly "GET /metrics": {
    readonly question: Record<never, never>
    readonly answer: null
  }
  readonly "GET /openapi.json": {
    readonly question: Record<never, never>
    readonly answer: { readonly "openapi": string; readonly "info": { readonly [name: string]: unknown }; readonly "paths": { readonly [name: string]: { readonly [name: string]: unknown } }; readonly "components": { readonly "schemas": { readonly [name: string]: { readonly "properties"?: { readonly [name: string]: unknown } | undefined; readonly [name: string]: unknown } }; readonly [name: string]: unknown }; readonly [name: string]: unknown }
  }
  readonly "GET /readyz": {
    readonly question: Record<never, never>
    readonly answer: Schemas["Readiness"]
  }
  readonly "GET /v1/access-tokens": {
    readonly question: { readonly query?: { readonly "limit"?: number | undefined; readonly "cursor"?: string | undefined; readonly "expiresBefore"?: string | undefined } }
    readonly answer: Schemas["AccessTokenList"]
  }
  readonly "GET /v1/access-tokens/{id}": {
    readonly question: { readonly path: { readonly "id": string } }
    readonly answer: Schemas["AccessToken"]
  }
  readonly "GET /v1/account": {
    readonly question: Record<never, never>
    readonly answer: Schemas["Account"]
  }
  readonly "GET /v1/account/attribution": {
    readonly question: Record<never, never>
    readonly answer: Schemas["Attribution"]
  }
  readonly "GET /v1/account/end-users": {
    readonly question: { readonly query: { readonly "name": string } }
    readonly answer: Schemas["FoundEndUser"]
  }
  readonly "GET /v1/account/end-users/{name}": {
    readonly question: { readonly path: { readonly "name": string } }
    readonly answer: Schemas["EndUserExport"]
  }
  readonly "GET /v1/analytics": {
    readonly question: { readonly query?: { readonly "from"?: string | undefined; readonly "to"?: string | undefined; readonly "interval"?: "hour" | "day" | "month" | "all" | undefined; readonly "group_by"?: "gate" | "target" | "key" | "status" | "credential" | "model" | "provider" | "user" | "session" | "agent" | "tag" | undefined; readonly "then_by"?: "gate" | "target" | "key" | "status" | "credential" | "model" | "provider" | "user" | "session" | "agent" | "tag" | undefined; readonly "order"?: "calls" | "errors" | "tokens" | "cost" | "name" | undefined; readonly "limit"?: number | undefined; readonly "cursor"?: string | undefined; readonly "search"?: string | undefined; readonly "percentiles"?: true | false | "totals" | undefined; readonly "totals"?: boolean | undefined; readonly "gate"?: string | undefined; readonly "key"?: string | undefined; readonly "target"?: string | undefined; readonly "user"?: string | undefined; readonly "session"?: string | undefined; readonly "agent"?: string | undefined; readonly "tag"?: string | undefined } }
    readonly answer: Schemas["Analytics"]
  }
  readonly "GET /v1/analytics/latency": {
    readonly question: { readonly query?: { readonly "from"?: string | undefined; readonly "to"?: string | undefined; readonly "interval"?: "hour" | "day" | "month" | "all" | undefined; readonly "gate"?: string | undefined; readonly "key"?: string | undefined; readonly "target"?: string | undefined } }
    readonly answer: Schemas["Latencies"]
  }
  readonly "GET /v1/analytics/refused": {
    readonly question: { readonly query?: { readonly "from"?: string | undefined; readonly "to"?: string | undefined; readonly "interval"?: "hour" | "day" | "month" | "all" | undefined; readonly "gate"?: string | undefined; readonly "key"?: string | undefined } }
    readonly answer: Schemas["RefusedCalls"]
  }
  readonly "GET /v1/audit-log": {
    readonly question: { readonly query?: { readonly "limit"?: number | undefined; readonly "cursor"?: string | undefined; readonly "actor"?: string | undefined; readonly "action"?: "gate.create" | "gate.update" | "gate.delete" | "key.create" | "key.import" | "key.update" | "key.rotate" | "key.delete" | "provider-key.create" | "provider-key.update" | "provider-key.delete" | "owned-model.create" | "owned-model.update" | "owned-model.delete" | "model-price.create" | "model-price.update" | "model-price.delete" | "costs.correct" | "configuration.reload" | "master-key.rotate" | "account.update" | "member.create" | "member.update" | "member.delete" | "invitation.create" | "invitation.delete" | "budget.create" | "budget.update" | "budget.delete" | "webhook.create" | "webhook.update" | "webhook.delete" | "tag.create" | "tag.update" | "tag.delete" | "stop.create" | "stop.delete" | "attribution.update" | "attribution.erase" | "attribution.replace-key" | "user.set-password" | undefined; readonly "resourceType"?: "gate" | "key" | "provider-key" | "owned-model" | "model-price" | "costs" | "configuration" | "master-key" | "account" | "member" | "invitation" | "budget" | "webhook" | "tag" | "stop" | "attribution" | "user" | undefined; readonly "resourceId"?: string | undefined; readonly "from"?: string | undefined; readonly "to"?: string | undefined } }
    readonly answer: Schemas["AuditLog"]
  }
  readonly "GET /v1/auth": {
    readonly question: Record<never, never>
    readonly answer: Schemas["SignInOptions"]
  }
  readonly "GET /v1/auth/callback/oidc": {
    readonly question: Record<never, never>
    readonly answer: null
  }
  readonly "GET /v1/budgets": {
    readonly question: { readonly query?: { readonly "limit"?: number | undefined; readonly "cursor"?: string | undefined } }
    readonly answer: Schemas["BudgetList"]
  }
  readonly "GET /v1/budgets/{id}": {
    readonly question: { readonly path: { readonly "id": string } }
    readonly answer: Schemas["Budget"]
  }
  readonly "GET /v1/budgets/{id}/heads": {
    readonly question: { readonly path: { readonly "id": string }; readonly query?: { readonly "limit"?: number | undefined; readonly "cursor"?: string | undefined; readonly "user"?: string | undefined; readonly "key"?: string | undefined } }
    readonly answer: Schemas["BudgetHeadList"]
  }
  readonly "GET /v1/budgets/{id}/stops": {
    readonly question: { readonly path: { readonly "id": string } }
    readonly answer: Schemas["FusedStopList"]
  }
  readonly "GET /v1/conformance": {
    readonly question: Record<never, never>
    readonly answer: Schemas["ConformanceList"]
  }
  readonly "GET /v1/fuse-stops": {
    readonly question: Record<never, never>
    readonly answer: Schemas["FuseStopCounts"]
  }
  readonly "GET /v1/gates": {
    readonly question: { readonly query?: { readonly "limit"?: number | undefined; readonly "cursor"?: string | undefined } }
    readonly answer: Schemas["GateList"]
  }
  readonly "GET /v1/gates/{id}": {
    readonly question: { readonly path: { readonly "id": string } }
    readonly answer: Schemas["Gate"]
  }
  readonly "GET /v1/gates/{id}/stops": {
    readonly question: { readonly path: { readonly "id": string } }
    readonly answer: Schemas["FusedStopList"]
  }
  readonly "GET /v1/invitations": {
    readonly question: { readonly query?: { readonly "limit"?: number | undefined; readonly "cursor"?: string | undefined } }
    readonly answer: Schemas["InvitationList"]
  }
  readonly "GET /v1/invitations/{id}": {
    readonly question: { readonly path: { readonly "id": string } }
    readonly answer: Schemas["Invitation"]
  }
  readonly "GET /v1/keys": {
    readonly question: { readonly query?: { readonly "limit"?: number | undefined; readonly "cursor"?: string | undefined } }
    readonly answer: Schemas["ApiKeyList"]
  }
  readonly "GET /v1/keys/{id}": {
    readonly question: { readonly path: { readonly "id": string } }
    readonly answer: Schemas["ApiKey"]
  }
  readonly "GET /v1/logs": {
    readonly question: { readonly query?: { readonly "limit"?: number | undefined; readonly "cursor"?: string | undefined; readonly "from"?: string | undefined; readonly "to"?: string | undefined; readonly "gate"?: string | undefined; readonly "key"?: string | undefined; readonly "target"?: string | undefined; readonly "user"?: string | undefined; readonly "session"?: string | undefined; readonly "agent"?: string | undefined; readonly "tag"?: string | undefined; readonly "targetPart"?: string | undefined; readonly "status"?: number | undefined; readonly "statusClass"?: "2xx" | "3xx" | "4xx" | "5xx" | undefined; readonly "outcome"?: "succeeded" | "failed" | "cancelled" | undefined; readonly "errorKind"?: string | undefined; readonly "refused"?: string | undefined; readonly "stream"?: boolean | undefined; readonly "unpriced"?: boolean | undefined; readonly "durationFromMs"?: number | undefined; readonly "durationToMs"?: number | undefined; readonly "firstByteFromMs"?: number | undefined; readonly "firstByteToMs"?: number | undefined } }
    readonly answer: { readonly "data": readonly (Schemas["Log"])[]; readonly "nextCursor": string | null }
  }
  readonly "GET /v1/logs/export": {
    readonly question: { readonly query: { readonly "format": "csv" | "ndjson"; readonly "from"?: string | undefined; readonly "to"?: string | undefined; readonly "gate"?: string | undefined; readonly "key"?: string | undefined; readonly "target"?: string | undefined; readonly "user"?: string | undefined; readonly "session"?: string | undefined; readonly "agent"?: string | undefined; readonly "tag"?: string | undefined; readonly "targetPart"?: string | undefined; readonly "status"?: number | undefined; readonly "statusClass"?: "2xx" | "3xx" | "4xx" | "5xx" | undefined; readonly "outcome"?: "succeeded" | "failed" | "cancelled" | undefined; readonly "errorKind"?: string | undefined; readonly "refused"?: string | undefined; readonly "stream"?: boolean | undefined; readonly "unpriced"?: boolean | undefined; readonly "durationFromMs"?: number | undefined; readonly "durationToMs"?: number | undefined; readonly "firstByteFromMs"?: number | undefined; readonly "firstByteToMs"?: number | undefined } }
    readonly answer: null
  }
  readonly "GET /v1/logs/{id}": {
    readonly question: { readonly path: { readonly "id": string } }
    readonly answer: Schemas["LogDetails"]
  }
  readonly "GET /v1/members": {
    readonly question: { readonly query?: { readonly "limit"?: number | undefined; readonly "cursor"?: string | undefined } }
    readonly answer: Schemas["MemberList"]
  }
  readonly "GET /v1/models": {
    readonly question: { readonly query?: { readonly "limit"?: number | undefined; readonly "after_id"?: string | undefined; readonly "before_id"?: string | undefined; readonly "client_version"?: string | undefined } }
    readonly answer: Schemas["ModelList"] | Schemas["MessagesModelList"]
  }
  readonly "GET /v1/models/{id}": {
    readonly question: { readonly path: { readonly "id": string } }
    readonly answer: Schemas["Model"] | Schemas["MessagesModel"]
  }
  readonly "GET /v1/owned-models": {
    readonly question: { readonly query?: { readonly "limit"?: number | undefined; readonly "cursor"?: string | undefined } }
    readonly answer: Schemas["OwnedModelList"]
  }
  readonly "GET /v1/owned-models/{slug}": {
    readonly question: { readonly path: { readonly "slug": string } }
    readonly answer: Schemas["OwnedModel"]
  }
  readonly "GET /v1/provider-keys": {
    readonly question: { readonly query?: { readonly "limit"?: number | undefined; readonly "cursor"?: string | undefined } }
    readonly answer: Schemas["ProviderKeyList"]
  }
  readonly "GET /v1/provider-models": {
    readonly question: { readonly query?: { readonly "provider"?: string | undefined; readonly "search"?: string | undefined; readonly "limit"?: number | undefined; readonly "cursor"?: string | undefined } }
    readonly answer: { readonly "data": readonly (Schemas["ProviderModel"])[]; readonly "nextCursor": string | null; readonly "maySetPrices": boolean }
  }
  readonly "GET /v1/provider-models/{provider}/{model}": {
    readonly question: { readonly path: { readonly "provider": string; readonly "model": string } }
    readonly answer: Schemas["ProviderModelDetails"]
  }
  readonly "GET /v1/providers": {
    readonly question: Record<never, never>
    readonly answer: Schemas["ProviderList"]
  }
  readonly "GET /v1/session": {
    readonly question: Record<never, never>
    readonly answer: Schemas["CurrentSession"]
  }
  readonly "GET /v1/sessions": {
    readonly question: Record<never, never>
    readonly answer: Schemas["UserSessionList"]
  }
  readonly "GET /v1/tags": {
    readonly question: { readonly query?: { readonly "limit"?: number | undefined; readonly "cursor"?: string | undefined } }
    readonly answer: Schemas["TagList"]
  }
  readonly "GET /v1/tags/{id}": {
    readonly question: { readonly path: { readonly "id": string } }
    readonly answer: Schemas["Tag"]
  }
  readonly "GET /v1/targets/fallbacks": {
    readonly question: Record<never, never>
    readonly answer: Schemas["GateFallbackList"]
  }
  readonly "GET /v1/targets/health": {
    readonly question: Record<never, never>
    readonly answer: Schemas["TargetHealthList"]
  }
  readonly "GET /v1/usage/export": {
    readonly question: { readonly query: { readonly "format": "focus"; readonly "from"?: string | undefined; readonly "to"?: string | undefined } }
    readonly answer: null
  }
  readonly "GET /v1/usage/sessions": {
    readonly question: { readonly query?: { readonly "limit"?: number | undefined; readonly "cursor"?: string | undefined; readonly "from"?: string | undefined; readonly "to"?: string | undefined; readonly "key"?: string | undefined; readonly "user"?: string | undefined; readonly "session"?: string | undefined; readonly "order"?: "last" | "cost" | "calls" | "tokens" | undefined } }
    readonly answer: Schemas["UsageSessionList"]
  }
  readonly "GET /v1/usage/sessions/{id}": {
    readonly question: { readonly path: { readonly "id": string }; readonly query?: { readonly "limit"?: number | undefined; readonly "cursor"?: string | undefined } }
    readonly answer: Schemas["UsageSessionDetails"]
  }
  readonly "GET /v1/webhooks": {
    readonly question: { readonly query?: { readonly "limit"?: number | undefined; readonly "cursor"?: string | undefined } }
    readonly answer: Schemas["WebhookList"]
  }
  readonly "GET /v1/webhooks/{id}": {
    readonly question: { readonly path: { readonly "id": string } }
    readonly answer: Schemas["Webhook"]
  }
  readonly "PATCH /v1/access-tokens/{id}": {
    readonly question: { readonly path: { readonly "id": string }; readonly body: Schemas["UpdateAccessToken"] }
    readonly answer: Schemas["AccessToken"]
  }
  readonly "PATCH /v1/account": {
    readonly question: { readonly body: Schemas["UpdateAccount"] }
    readonly answer: Schemas["AccountName"]
  }
  readonly "PATCH /v1/account/attribution": {
    readonly question: { readonly body: Schemas["UpdateAttribution"] }
    readonly answer: Schemas["Attribution"]
  }
  readonly "PATCH /v1/budgets/{id}": {
    readonly question: { readonly path: { readonly "id": string }; readonly body: Schemas["UpdateBudget"] }
    readonly answer: Schemas["Budget"]
  }
  readonly "PATCH /v1/gates/{id}": {
    readonly question: { readonly path: { readonly "id": string }; readonly body: Schemas["UpdateGate"] }
    readonly answer: Schemas["Gate"]
  }
  readonly "PATCH /v1/keys/{id}": {
    readonly question: { readonly path: { readonly "id": string }; readonly body: Schemas["UpdateApiKey"] }
    readonly answer: Schemas["ApiKey"]
  }
  readonly "PATCH /v1/members/{id}": {
    readonly question: { readonly path: { readonly "id": string }; readonly body: Schemas["UpdateMember"] }
    readonly answer: Schemas["Member"]
  }
  readonly "PATCH /v1/owned-models/{slug}": {
    readonly question: { readonly path: { readonly "slug": string }; readonly body: Schemas["UpdateOwnedModel"] }
    readonly answer: Schemas["SavedOwnedModel"]
  }
  readonly "PATCH /v1/provider-keys/{provider}": {
    readonly question: { readonly path: { readonly "provider": string }; readonly body: Schemas["UpdateProviderKey"] }
    readonly answer: Schemas["ProviderKey"]
  }
  readonly "PATCH /v1/tags/{id}": {
    readonly question: { readonly path: { readonly "id": string }; readonly body: Schemas["UpdateTag"] }
    readonly answer: Schemas["Tag"]
  }
  readonly "PATCH /v1/webhooks/{id}": {
    readonly question: { readonly path: { readonly "id": string }; readonly body: Schemas["UpdateWebhook"] }
    readonly answer: Schemas["Webhook"]
  }
  readonly "POST /alt/v1/chat/completions": {
    readonly question: { readonly body: Schemas["AltChatRequest"] }
    readonly answer: Schemas["ChatCompletion"]
  }
  readonly "POST /alt/v1/fim/completions": {
    readonly question: { readonly body: Schemas["FimRequest"] }
    readonly answer: Schemas["ChatCompletion"]
  }
  readonly "POST /v1/access-tokens": {
    readonly question: { readonly body: Schemas["CreateAccessToken"] }
    readonly answer: Schemas["CreatedAccessToken"]
  }
  readonly "POST /v1/access-tokens/{id}/rotate": {
    readonly question: { readonly path: { readonly "id": string }; readonly body: Schemas["RotateApiKey"] }
    readonly answer: Schemas["CreatedAccessToken"]
  }
  readonly "POST /v1/access-tokens/{id}/stop": {
    readonly question: { readonly path: { readonly "id": string }; readonly body: Schemas["StopRequest"] }
    readonly answer: Schemas["StopReport"]
  }
  readonly "POST /v1/auth/invitation": {
    readonly question: { readonly body: Schemas["AskForInvitationOffer"] }
    readonly answer: Schemas["InvitationOffer"]
  }
  readonly "POST /v1/auth/oidc": {
    readonly question: { readonly body: Schemas["BeginOidc"] }
    readonly answer: Schemas["OidcRedirect"]
  }
  readonly "POST /v1/auth/password": {
    readonly question: { readonly body: Schemas["ChangePassword"] }
    readonly answer: null
  }
  readonly "POST /v1/auth/sign-in": {
    readonly question: { readonly body: Schemas["SignIn"] }
    readonly answer: Schemas["CurrentSession"]
  }
  readonly "POST /v1/auth/sign-up": {
    readonly question: { readonly body: Schemas["SignUp"] }
    readonly answer: Schemas["CurrentSession"]
  }
  readonly "POST /v1/budgets": {
    readonly question: { readonly body: Schemas["CreateBudget"] }
    readonly answer: Schemas["Budget"]
  }
  readonly "POST /v1/budgets/simulate": {
    readonly question: { readonly body: Schemas["SimulateBudget"] }
    readonly answer: Schemas["BudgetSimulation"]
  }
  readonly "POST /v1/chat/completions": {
    readonly question: { readonly body: Schemas["ChatRequest"] }
    readonly answer: Schemas["ChatCompletion"]
  }
  readonly "POST /v1/costs/verify": {
    readonly question: { readonly body: Schemas["VerifyCosts"] }
    readonly answer: Schemas["VerifiedCosts"]
  }
  readonly "POST /v1/embeddings": {
    readonly question: { readonly body: Schemas["EmbeddingsRequest"] }
    readonly answer: Schemas["Embeddings"]
  }
  readonly "POST /v1/gates": {
    readonly question: { readonly body: Schemas["CreateGate"] }
    readonly answer: Schemas["Gate"]
  }
  readonly "POST /v1/gates/{id}/test": {
    readonly question: { readonly path: { readonly "id": string }; readonly body?: Schemas["TestGate"] }
    readonly answer: Schemas["GateTest"]
  }
  readonly "POST /v1/invitations": {
    readonly question: { readonly body: Schemas["CreateInvitation"] }
    readonly answer: Schemas["CreatedInvitation"]
  }
  readonly "POST /v1/keys": {
    readonly question: { readonly body: Schemas["CreateApiKey"] }
    readonly answer: Schemas["CreatedApiKey"]
  }
  readonly "POST /v1/keys/import": {
    readonly question: { readonly body: Schemas["ImportApiKey"] }
    readonly answer: Schemas["ApiKey"]
  }
  readonly "POST /v1/keys/{id}/rotate": {
    readonly question: { readonly path: { readonly "id": string }; readonly body: Schemas["RotateApiKey"] }
    readonly answer: Schemas["CreatedApiKey"]
  }
  readonly "POST /v1/members/{id}/stop": {
    readonly question: { readonly path: { readonly "id": string }; readonly body: Schemas["StopRequest"] }
    readonly answer: Schemas["StopReport"]
  }
  readonly "POST /v1/messages": {
    readonly question: { readonly body: Schemas["MessagesRequest"] }
    readonly answer: Schemas["Message"]
  }
  readonly "POST /v1/messages/count_tokens": {
    readonly question: { readonly body: Schemas["CountTokensRequest"] }
    readonly answer: Schemas["TokenCount"]
  }
  readonly "POST /v1/owned-models": {
    readonly question: { readonly body: Schemas["CreateOwnedModel"] }
    readonly answer: Schemas["SavedOwnedModel"]
  }
  readonly "POST /v1/owned-models/{slug}/probe": {
    readonly question: { readonly path: { readonly "slug": string } }
    readonly answer: Schemas["SavedOwnedModel"]
  }
  readonly "POST /v1/playground": {
    readonly question: { readonly body: Schemas["GatehouseChatRequest"] }
    readonly answer: Schemas["GatehouseChatAnswer"]
  }
  readonly "POST /v1/reload": {
    readonly question: { readonly body?: Schemas["ReloadRequest"] }
    readonly answer: Schemas["Reload"]
  }
  readonly "POST /v1/responses": {
    readonly question: { readonly body: Schemas["ResponsesRequest"] }
    readonly answer: Schemas["Response"]
  }
  readonly "POST /v1/tags": {
    readonly question: { readonly body: Schemas["CreateTag"] }
    readonly answer: Schemas["Tag"]
  }
  readonly "POST /v1/webhooks": {
    readonly question: { readonly body: Schemas["CreateWebhook"] }
    readonly answer: Schemas["CreatedWebhook"]
  }
  readonly "POST /v1/webhooks/{id}/test": {
    readonly question: { readonly path: { readonly "id": string } }
    readonly answer: Schemas["WebhookTest"]
  }
  readonly "POST /v3/chat": {
    readonly question: { readonly body: Schemas["GatehouseChatRequest"] }
    readonly answer: Schemas["GatehouseChatAnswer"]
  }
  readonly "PUT /v1/provider-keys/{provider}": {
    readonly question: { readonly path: { readonly "provider": string }; readonly body: Schemas["SetProviderKey"] }
    readonly answer: Schemas["SavedProviderKey"]
  }
  readonly "PUT /v1/provider-models/{provider}/{model}": {
    readonly question: { readonly path: { readonly "provider": string; readonly "model": string }; readonly body: Schemas["SetModelPrice"] }
    readonly answer: Schemas["ModelPrice"]
  }
}
