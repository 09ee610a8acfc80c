// Elysia: `bare` answers and nothing else, `cors` with its plugin for CORS. Its compiler makes a function of each route,
// and checks the query.
import { cors } from '@elysiajs/cors';
import { Elysia, status, t } from 'elysia';
import { openRegistrations, STATUS } from './work.ts';

const [path = ':memory:', mode = 'bare'] = process.argv.slice(2);
const find = openRegistrations(path);

const app = new Elysia();
if (mode === 'cors') app.use(cors());
app
  .get('/api/status', () => STATUS)
  .get('/api/dids/lookup', ({ query }) => find(query.credentialId) ?? status(404, { error: 'not found' }), {
    query: t.Object({ credentialId: t.String() }),
  })
  .listen({ port: 0, hostname: '127.0.0.1', development: false });
console.log(app.server?.port);
