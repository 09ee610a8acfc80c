import { VaultError } from '../lib/error.ts';
import { registrarDocument } from '../lib/registrar.ts';
import { json } from './answer.ts';
import { get, type Row } from './route.ts';

/** For supervisors and verifiers: whether the vault lives, whether it can serve, and the registrar's DID document. */
export const operatorRoutes: readonly Row[] = [
  get('/healthz', { handler: () => json({ ok: true }) }),

  get('/readyz', {
    async handler({ vault }) {
      const state = await vault.readiness();
      return json(state, { status: state.ok ? 200 : 503 });
    },
  }),

  get('/.well-known/did.json', {
    handler({ vault }) {
      const document = registrarDocument(vault);
      if (!document) throw new VaultError('not_found');
      return json(document, { headers: { 'cache-control': 'public, max-age=3600' } });
    },
  }),
];
