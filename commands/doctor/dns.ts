// TXT records by RFC 1035, with EDNS (RFC 6891). The runtime's resolver gives the strings of a record as if each were a
// record, so that a DKIM key, which takes two, could not be told from two keys.
import { createSocket } from 'node:dgram';
import { getServers } from 'node:dns';
import { connect } from 'node:net';
import type { Sight } from '../../lib/doctor/host.ts';

/** How long a name server may take, how many are asked, and the longest answer by UDP and by TCP. */
const DNS_TIMEOUT_MS = 3_000;
const DNS_SERVERS_MAX = 3;
const DNS_UDP_BYTES_MAX = 1_232;
const DNS_TCP_BYTES_MAX = 65_535;

const [TXT, OPT, INTERNET] = [16, 41, 1];
const [NO_ERROR, NO_SUCH_NAME] = [0, 3];

/** Reads TXT records from the system's name servers, or from these (`address` or `address:port`). */
export function createTxt(servers?: readonly string[]): Sight['txt'] {
  return async (name) => {
    const question = questionOf(name);
    let failure: unknown = new DnsError('ENOSERVER');
    for (const server of (servers ?? getServers()).slice(0, DNS_SERVERS_MAX)) {
      try {
        const short = await askByUdp(placeOf(server), question);
        const answer = isCut(short) ? await askByTcp(placeOf(server), question) : short;
        return readTexts(answer, question);
      } catch (error) {
        failure = error;
      }
    }
    throw failure;
  };
}

/** No answer that could be used; `code` says why, in a word. */
class DnsError extends Error {
  readonly code: string;

  constructor(code: string) {
    super(code);
    this.code = code;
  }
}

interface Place {
  readonly host: string;
  readonly port: number;
}

function placeOf(server: string): Place {
  const [, bare, port] = /^\[?([^\]]*?)\]?(?::(\d+))?$/.exec(server) ?? [];
  const isAddress6 = server.split(':').length > 2 && !server.startsWith('[');
  return isAddress6 ? { host: server, port: 53 } : { host: bare ?? server, port: Number(port ?? 53) };
}

function questionOf(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.from(label));
  if (labels.some(({ length }) => length === 0 || length > 63)) throw new DnsError('EBADNAME');
  const id = crypto.getRandomValues(new Uint8Array(2));
  // Recursion is desired; one question, one additional record.
  const head = Buffer.from([...id, 0x01, 0, 0, 1, 0, 0, 0, 0, 0, 1]);
  const path = labels.flatMap((label) => [Buffer.of(label.length), label]);
  const type = Buffer.from([0, 0, TXT, 0, INTERNET]);
  const edns = Buffer.from([0, 0, OPT, DNS_UDP_BYTES_MAX >> 8, DNS_UDP_BYTES_MAX & 0xff, 0, 0, 0, 0, 0, 0]);
  return Buffer.concat([head, ...path, type, edns]);
}

function isCut(answer: Buffer): boolean {
  return ((answer[2] ?? 0) & 0x02) !== 0;
}

function askByUdp({ host, port }: Place, question: Buffer): Promise<Buffer> {
  const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
  return inTime(
    (settle, fail) => {
      socket.on('error', fail);
      // Other packets to the port are ignored.
      socket.on('message', (message) => {
        if (isAnswer(message, question)) settle(message);
      });
      socket.send(question, port, host);
    },
    () => socket.close(),
  );
}

/** Over TCP each message has its length before it. */
function askByTcp({ host, port }: Place, question: Buffer): Promise<Buffer> {
  const socket = connect({ host, port });
  return inTime(
    (settle, fail) => {
      let heard = Buffer.alloc(0);
      socket.on('error', fail);
      socket.on('data', (chunk) => {
        heard = Buffer.concat([heard, chunk]);
        const whole = heard.length < 2 ? DNS_TCP_BYTES_MAX : heard.readUInt16BE(0);
        if (heard.length < whole + 2) return;
        const message = heard.subarray(2, whole + 2);
        if (isAnswer(message, question)) settle(message);
        else fail(new DnsError('EBADRESP'));
      });
      socket.on('close', () => fail(new DnsError('EBADRESP')));
      socket.write(Buffer.concat([Buffer.from([question.length >> 8, question.length & 0xff]), question]));
    },
    () => socket.destroy(),
  );
}

async function inTime(
  begin: (settle: (answer: Buffer) => void, fail: (error: Error) => void) => void,
  end: () => void,
): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const timer = setTimeout(() => reject(new DnsError('ETIMEOUT')), DNS_TIMEOUT_MS);
  try {
    begin(resolve, reject);
    return await promise;
  } finally {
    clearTimeout(timer);
    end();
  }
}

/** Its id and its question are those of the question. */
function isAnswer(message: Buffer, question: Buffer): boolean {
  const asked = question.subarray(12, endOfName(question, 12) + 4);
  const isSame = message
    .subarray(12, 12 + asked.length)
    .toString('latin1')
    .toLowerCase();
  return (
    message.length >= 12 + asked.length &&
    message.readUInt16BE(0) === question.readUInt16BE(0) &&
    ((message[2] ?? 0) & 0x80) !== 0 &&
    isSame === asked.toString('latin1').toLowerCase()
  );
}

function readTexts(answer: Buffer, question: Buffer): string[] {
  const code = (answer[3] ?? 0) & 0x0f;
  if (code === NO_SUCH_NAME) return [];
  if (code !== NO_ERROR) throw new DnsError(code === 2 ? 'ESERVFAIL' : code === 5 ? 'EREFUSED' : 'EBADRESP');
  const texts: string[] = [];
  let at = endOfName(question, 12) + 4;
  try {
    for (let left = answer.readUInt16BE(6); left > 0; left--) {
      const head = endOfName(answer, at);
      const end = head + 10 + answer.readUInt16BE(head + 8);
      if (answer.readUInt16BE(head) === TXT) texts.push(textOf(answer.subarray(head + 10, end)));
      at = end;
    }
  } catch {
    throw new DnsError('EBADRESP');
  }
  return texts;
}

/** The strings of a record, one after the other. */
function textOf(data: Buffer): string {
  let text = '';
  for (let at = 0; at < data.length; at += 1 + (data[at] ?? 0))
    text += data.toString('utf8', at + 1, at + 1 + (data[at] ?? 0));
  return text;
}

/** Where a name ends, which may point back to another. */
function endOfName(message: Buffer, start: number): number {
  let at = start;
  for (let size = message.readUInt8(at); size > 0; size = message.readUInt8(at)) {
    if (size >= 0xc0) return at + 2;
    at += 1 + size;
  }
  return at + 1;
}
