-- cr.preprocessing: preprocessing of texts and sequences as in Keras 2.
local _, shell = ...
local text, tokenizer = shell.library "preprocessing/text", shell.library "preprocessing/tokenizer"

return {
  sequence = shell.library "preprocessing/sequence",
  text = {
    text_to_word_sequence = text.text_to_word_sequence,
    one_hot = text.one_hot,
    hashing_trick = text.hashing_trick,
    Tokenizer = tokenizer.Tokenizer,
    tokenizer_from_json = tokenizer.tokenizer_from_json,
  },
}
