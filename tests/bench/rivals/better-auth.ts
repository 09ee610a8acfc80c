// better-auth with its plugin for one-time codes by mail, on bun:sqlite with a sync for each commit, its limiter on and
// all else at its defaults. Codes are constant and mail goes nowhere, as for the vault.
import { Database } from 'bun:sqlite';
import { betterAuth } from 'better-auth';
import { getMigrations } from 'better-auth/db/migration';
import { emailOTP } from 'better-auth/plugins';

const [path = ':memory:', code = '000000'] = process.argv.slice(2);
const database = new Database(path);
database.run('PRAGMA journal_mode = WAL');
database.run('PRAGMA synchronous = FULL');

const UNLIMITED = { window: 60, max: 1_000_000_000 };
const options = {
  database,
  baseURL: 'http://localhost',
  secret: 'a secret of the bench, of thirty-two characters and more',
  // As in production: on, by client and path, in memory. The load is one machine, so its limits are wide.
  rateLimit: { enabled: true, customRules: { '/email-otp/*': UNLIMITED, '/sign-in/*': UNLIMITED } },
  advanced: { ipAddress: { ipAddressHeaders: ['edge-connecting-ip'] } },
  plugins: [emailOTP({ generateOTP: () => code, sendVerificationOTP: async () => {} })],
} satisfies Parameters<typeof betterAuth>[0];

const { runMigrations } = await getMigrations(options);
await runMigrations();
const auth = betterAuth(options);
const server = Bun.serve({ port: 0, hostname: '127.0.0.1', development: false, fetch: auth.handler });
console.log(server.port);
