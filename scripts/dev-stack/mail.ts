import type { AddressInfo } from 'node:net';
import PostalMime from 'postal-mime';
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from 'smtp-server';
import { createMailbox, type Mailbox, type Message } from './mailbox.ts';

/** A mail as it was accepted: `to` is the envelope's, the rest the parsed message's. */
export interface Mail extends Message {
  readonly from: string;
  readonly html: string;
  /** Header lines by lower-case name, the last one wins. */
  readonly headers: ReadonlyMap<string, string>;
  readonly raw: string;
  /** The user that authenticated, and whether the mail came over TLS. */
  readonly user?: string;
  readonly secure: boolean;
}

/** How a catcher behaves; by default it accepts everything, in the clear, on a free port. */
export interface MailCatcherOptions {
  readonly port?: number;
  /** Demands these credentials before a mail. */
  readonly auth?: { readonly user: string; readonly pass: string };
  /** PEM; offers STARTTLS, or speaks TLS from the first byte when `implicit`. */
  readonly tls?: { readonly key: string; readonly cert: string; readonly implicit?: boolean };
  /** Recipients answered with 550. */
  readonly reject?: (recipient: string) => boolean;
  /** How long the final answer to a mail is held back; `Infinity` never answers. The mail is kept either way. */
  readonly answerAfterMs?: number;
}

/** A running catcher. `url` has no credentials: `smtp:` or, with implicit TLS, `smtps:`. */
export interface MailCatcher extends Mailbox<Mail> {
  readonly port: number;
  readonly url: string;
  stop(): Promise<void>;
}

const MAIL_BYTES_MAX = 1024 * 1024;
/** The server library's grace for open connections; it takes 0 for its default of 30 s. */
const CLOSE_MS = 1;

/** A real SMTP server on loopback that keeps what it is sent and passes nothing on. */
export async function startMailCatcher(options: MailCatcherOptions = {}): Promise<MailCatcher> {
  const box = createMailbox<Mail>();
  const answers = new Set<ReturnType<typeof setTimeout>>();
  const server = new SMTPServer({
    ...security(options),
    banner: 'mail catcher',
    size: MAIL_BYTES_MAX,
    disableReverseLookup: true,
    closeTimeout: CLOSE_MS,
    onRcptTo: ({ address }, _session, done) =>
      done(options.reject?.(address) ? refusal(550, 'No such user here') : null),
    onData(stream, session, done) {
      const chunks: Uint8Array[] = [];
      stream.on('data', (chunk: Uint8Array) => chunks.push(chunk));
      stream.on('end', async () => {
        if (stream.sizeExceeded) return done(refusal(552, 'Message too large'));
        box.add(await parseMail(Buffer.concat(chunks), session));
        if (!options.answerAfterMs) return done();
        if (options.answerAfterMs !== Number.POSITIVE_INFINITY) answers.add(setTimeout(done, options.answerAfterMs));
      });
    },
  });
  // Some tests hang up in the middle of a mail, which is not a failure of the catcher.
  server.on('error', () => {});
  const listener = server.listen(options.port ?? 0, '127.0.0.1');
  await new Promise<void>((resolve, reject) => listener.once('listening', resolve).once('error', reject));
  const { port } = listener.address() as AddressInfo;
  return {
    ...box,
    port,
    url: `${options.tls?.implicit ? 'smtps' : 'smtp'}://127.0.0.1:${port}`,
    async stop() {
      for (const answer of answers) clearTimeout(answer);
      await new Promise<void>((resolve) => server.close(resolve));
    },
  };
}

function security({ auth, tls }: MailCatcherOptions): SMTPServerOptions {
  return {
    ...(tls ? { key: tls.key, cert: tls.cert, secure: tls.implicit === true } : {}),
    disabledCommands: [...(auth ? [] : ['AUTH']), ...(tls ? [] : ['STARTTLS'])],
    allowInsecureAuth: tls === undefined,
    authOptional: auth === undefined,
    onAuth({ username, password }, _session, done) {
      if (username === auth?.user && password === auth?.pass) return done(null, { user: username });
      done(refusal(535, 'Authentication credentials invalid'));
    },
  };
}

async function parseMail(raw: Buffer, session: SMTPServerSession): Promise<Mail> {
  const mail = await PostalMime.parse(raw);
  return {
    from: session.envelope.mailFrom ? session.envelope.mailFrom.address : '',
    to: session.envelope.rcptTo.map(({ address }) => address),
    subject: mail.subject ?? '',
    text: mail.text ?? '',
    html: mail.html ?? '',
    headers: new Map(mail.headers.map(({ key, value }) => [key, value])),
    raw: raw.toString('latin1'),
    ...(session.user === undefined ? {} : { user: session.user }),
    secure: session.secure,
  };
}

function refusal(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}
