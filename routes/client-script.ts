import type { Route } from './http/route.ts';
import { file } from './http/static-file.ts';

const HEADERS = { 'cache-control': 'public, max-age=600', 'cross-origin-resource-policy': 'cross-origin' };

/** The client for pages of any origin (docs/client.md): its first script, and those that it loads on demand. */
export const clientScriptRoutes = [
  script('/client.js', 'The client'),
  script('/client-sign-in.js', 'The part of the client that signs people in'),
  script('/client-credential.js', 'The part of the client that holds credentials'),
  script('/client-authorization.js', 'The part of the client that pays by an authorization'),
  script('/client-events.js', 'The part of the client that reads events'),
  script('/client-operation.js', 'The part of the client that sends user operations'),
  script('/payments.js', 'The check of payments'),
  script('/approvals.js', 'The check of approvals'),
] as const satisfies readonly Route[];

function script<P extends string>(path: P, summary: string) {
  return file(path, { type: 'text/javascript; charset=utf-8', summary, headers: HEADERS });
}
