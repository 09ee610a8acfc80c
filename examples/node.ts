// node examples/node.ts (Node 22.18 or later runs TypeScript as it is): the vault in a Node server, by way of srvx.
import { createClient } from '@libsql/client';
import { serve } from 'srvx';
import { createVault, type Env } from 'vault';
import { packageAssets } from 'vault/node';

/** For EMAIL_PROVIDER=smtp, by way of nodemailer. A server on another machine must encrypt, else it gets no mail. */
async function createMailer(url: string): Promise<Env['mail']> {
  const { createTransport } = await import('nodemailer');
  const { protocol, hostname: host, port, username, password } = new URL(url);
  const transport = createTransport({
    host,
    secure: protocol === 'smtps:',
    requireTLS: host !== 'localhost' && host !== '127.0.0.1',
    ...(port === '' ? {} : { port: Number(port) }),
    ...(username === '' ? {} : { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
  });
  return {
    send: async (mail) => void (await transport.sendMail(mail)),
    close: async () => transport.close(),
  };
}

const database = createClient({ url: process.env['DATABASE_URL'] ?? 'file:vault.db', concurrency: 1 });
const smtpUrl = process.env['SMTP_URL'];
const vault = createVault({
  vars: process.env,
  database,
  assets: packageAssets(),
  mail: smtpUrl === undefined ? undefined : await createMailer(smtpUrl),
  log: (entry) => console.log(JSON.stringify(entry)),
});

const server = serve({
  hostname: '127.0.0.1',
  port: Number(process.env['PORT'] ?? 8787),
  gracefulShutdown: false,
  fetch: (request) => vault.fetch(request, { peer: request.ip }),
});
await server.ready();
const timer = setInterval(() => vault.work(Date.now() + 1_000), 1_000);
console.log(`listening on ${server.url}`);

process.once('SIGTERM', async () => {
  clearInterval(timer);
  await server.close(true);
  await vault.close();
  database.close();
});
