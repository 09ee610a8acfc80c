import type { MailPart } from './message-page.ts';
import { type Letter, type Say, timeText } from './recovery-message.ts';

/** The contents of a notice of a challenge: another DID claims an address whose holder has a passkey. */
export interface ChallengeNews {
  /** `kept`: by its holder, who has claimed it again. */
  readonly status: 'begun' | 'soon' | 'kept' | 'released' | 'replaced' | 'moved' | 'failed';
  /** The address or number, masked: it goes to others of the holder's, too. */
  readonly address: string;
  /** When it moves, at the earliest; ISO 8601, null once that is decided. */
  readonly movesAt: string | null;
  /** Leads to the page where the holder decides. */
  readonly link: string;
}

/** The mail about a challenge. */
export function challengeLetter({ status, address, movesAt, link }: ChallengeNews, say: Say, language: string): Letter {
  const group = `challenge_${status}`;
  const sentences =
    movesAt === null
      ? [say(`${group}.what`, { address }), say('ended.advice')]
      : [
          say(`${group}.what`, { address }),
          say('challenge.when', { time: timeText(movesAt, language) }),
          say('challenge.advice'),
        ];
  const parts: readonly MailPart[] = [
    ...sentences.map((text) => ({ kind: 'text', text }) as const),
    { kind: 'link', text: link },
    { kind: 'quiet', text: say(movesAt === null ? 'ended.closing' : 'challenge.closing') },
  ];
  return { subject: say(`${group}.subject`), parts };
}

/** The forms of its text message, the fullest first: with the host where the brand takes too much room. */
export function challengeTexts({ status, movesAt, link }: ChallengeNews, say: Say, host: string): readonly string[] {
  if (movesAt !== null) {
    const forms = ['sms.challenge', 'sms.challenge_short'].map((id) => say(id, { link }));
    return [...forms.slice(0, 1), say('sms.challenge', { link, brand: host }), ...forms.slice(1), link];
  }
  const id = status === 'moved' || status === 'released' ? 'sms.challenge_moved' : 'sms.challenge_over';
  return [say(id), say(id, { brand: host })];
}
