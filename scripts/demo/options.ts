/** The output of `npm run demo -- --help`. */
export const HELP = `Usage: npm run demo [-- OPTION]

Plays the stack of npm start from sign-up to a look-up on the chain, request by request, in about a second.

  --full                        print hashes, keys and answers whole
  --browser                     a person's side, in a window: sign up, pay, add a passkey, lose the first, come back
  --browser --pictures FOLDER   the same without a window: six pictures
  --help                        this`;

/** The way to play; in a browser with pictures if a folder is named. */
export type Wanted = 'requests' | 'help' | { readonly pictures: string | undefined };

/** Reads the options. Throws the help for an unknown one. */
export function readOptions([first = '', ...others]: readonly string[]): Wanted {
  const [second, pictures] = others;
  if (others.length === 0 && (first === '' || first === '--full')) return 'requests';
  if (others.length === 0 && first === '--help') return 'help';
  if (others.length === 0 && first === '--browser') return { pictures: undefined };
  const hasFolder = others.length === 2 && pictures !== undefined && !pictures.startsWith('-');
  if (first === '--browser' && second === '--pictures' && hasFolder) return { pictures };
  throw new Error(`no such option: ${[first, ...others].join(' ')}\n\n${HELP}`);
}
