// better-auth as an OpenID provider: its OAuth provider plugin with RS256, on bun:sqlite with a sync for each commit, its
// limiter on and all else at its defaults. `GET /bench` answers a client with a secret, whose consent is given, and the
// cookie of a person who is signed in.
import { Database } from 'bun:sqlite';
import { oauthProvider } from '@better-auth/oauth-provider';
import { type BetterAuthPlugin, betterAuth } from 'better-auth';
import { getMigrations } from 'better-auth/db/migration';
import { jwt } from 'better-auth/plugins';

const [path = ':memory:', redirectUri = 'https://tea.example/back'] = process.argv.slice(2);
const database = new Database(path);
database.run('PRAGMA journal_mode = WAL');
database.run('PRAGMA synchronous = FULL');

const UNLIMITED = { window: 60, max: 1_000_000_000 };
const options = {
  database,
  baseURL: 'http://localhost',
  secret: 'a secret of the bench, of thirty-two characters and more',
  // As in production: on, by client and path, in memory. The load is one machine, so its limits are wide.
  rateLimit: { enabled: true, ...UNLIMITED },
  advanced: { ipAddress: { ipAddressHeaders: ['edge-connecting-ip'] } },
  emailAndPassword: { enabled: true },
  plugins: [
    jwt({ jwks: { keyPairConfig: { alg: 'RS256', modulusLength: 2048 } } }),
    oauthProvider({
      loginPage: '/sign-in',
      consentPage: '/consent',
      rateLimit: { token: UNLIMITED, authorize: UNLIMITED, userinfo: UNLIMITED },
      // Its types are those of a better-auth of its own number.
    }) as unknown as BetterAuthPlugin,
  ],
} satisfies Parameters<typeof betterAuth>[0];

const { runMigrations } = await getMigrations(options);
await runMigrations();
const auth = betterAuth(options);
const person = { email: 'alice@example.com', password: 'correct horse battery staple', name: 'Alice' };
const signedUp = await auth.api.signUpEmail({ body: person, asResponse: true });
const cookie = signedUp.headers
  .getSetCookie()
  .map((one) => one.split(';')[0])
  .join('; ');
const { adminCreateOAuthClient: create } = auth.api as unknown as Pick<
  ReturnType<typeof oauthProvider>['endpoints'],
  'adminCreateOAuthClient'
>;
const client = await create({
  headers: new Headers({ cookie }),
  body: { redirect_uris: [redirectUri], token_endpoint_auth_method: 'client_secret_basic', skip_consent: true },
});
const setUp = { clientId: client.client_id, secret: client.client_secret, cookie };

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  development: false,
  fetch: (request) => (new URL(request.url).pathname === '/bench' ? Response.json(setUp) : auth.handler(request)),
});
console.log(server.port);
