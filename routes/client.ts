import { VaultError } from '../lib/base/error.ts';
import { isDoctorToken } from '../lib/identity/doctor-token.ts';
import { Sighting } from './answers/vault.ts';
import { sightingOf } from './http/client-address.ts';
import { bearerToken } from './http/operator-auth.ts';
import { json } from './http/response.ts';
import { get, type Route } from './http/route.ts';

/**
 * Which client the vault sees in a request, for `vault doctor`, which sends an honest and a forged header through the
 * proxy. Not below `/v1/console`, as proxies hide that.
 */
export const clientRoutes = [
  get('/api/client', {
    summary: 'The origin of this request, as the vault sees it',
    security: 'doctor',
    limit: 'reads',
    isPage: true,
    answers: { 200: Sighting },
    handler(call) {
      const { config, clock } = call.ctx;
      const token = bearerToken(call.request) ?? '';
      if (!isDoctorToken(config.vaultSecret, token, clock.now())) throw new VaultError('operator_unauthorized');
      return json(sightingOf(call));
    },
  }),
] as const satisfies readonly Route[];
