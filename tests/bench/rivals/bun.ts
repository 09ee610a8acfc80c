// Bare `Bun.serve` with its own routes: nothing but the answer.
import { openRegistrations, STATUS } from './work.ts';

const find = openRegistrations(process.argv[2] ?? ':memory:');

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  development: false,
  routes: {
    '/api/status': () => Response.json(STATUS),
    '/api/dids/lookup': (request) => {
      const found = find(new URL(request.url).searchParams.get('credentialId') ?? '');
      return found ? Response.json(found) : Response.json({ error: 'not found' }, { status: 404 });
    },
  },
});
console.log(server.port);
