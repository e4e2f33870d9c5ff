export const KNOWN_FORMS =
  "models.dev's api.json, the answer of OpenRouter's /api/v1/models, or LiteLLM's " +
  'model_prices_and_context_window.json'
