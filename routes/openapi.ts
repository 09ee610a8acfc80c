import { file } from './http/static-file.ts';

/** The description of this API, made by the build (`scripts/openapi/`). */
export const openApiRoutes = [
  file('/openapi.json', { type: 'application/json', summary: 'This description of the API (OpenAPI 3.1)' }),
] as const;
