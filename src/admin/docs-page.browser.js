/* Starts Swagger UI on this gateway's own description. */

{
  const prefersDark = matchMedia('(prefers-color-scheme: dark)')
  const follow = () => document.documentElement.classList.toggle('dark-mode', prefersDark.matches)
  prefersDark.addEventListener('change', follow)
  follow()

  SwaggerUIBundle({
    url: '/openapi.json',
    dom_id: '#interface',
    deepLinking: true,
    docExpansion: 'list',
    defaultModelsExpandDepth: 0,
    defaultModelExpandDepth: 2,
    displayRequestDuration: true,
    filter: true,
    tryItOutEnabled: true,
    // Neither is asked of any other host.
    validatorUrl: null,
    persistAuthorization: false,
  })
}
