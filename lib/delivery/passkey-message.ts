import { type Letter, type Say, timeText } from './recovery-message.ts';

/** The contents of a mail about a passkey that is new to the reader's account. */
export interface PasskeyNews {
  /** The passkey's action: it signed in at the app of the mail, or registered something there. */
  readonly by: 'signin' | 'registration';
  /** 0x-hex. */
  readonly account: string;
  /** ISO 8601. */
  readonly at: string;
  /** Leads to the keys of the account. */
  readonly link: string;
}

/** The mail about a new passkey. */
export function passkeyLetter({ by, account, at, link }: PasskeyNews, say: Say, language: string): Letter {
  const what = say(`passkey.${by}`, { account, time: timeText(at, language) });
  return {
    subject: say('passkey.subject'),
    parts: [
      ...[what, say('passkey.yours'), say('passkey.advice')].map((text) => ({ kind: 'text', text }) as const),
      { kind: 'link', text: link },
      { kind: 'quiet', text: say('ended.closing') },
    ],
  };
}
