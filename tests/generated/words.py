"""What people call things: sizes, variables, layers and classes, in the words of several languages."""

from __future__ import annotations

from .drawing import Choices

LANGUAGES = ("english", "short", "letter", "german", "spanish", "portuguese", "french", "italian", "turkish", "pinyin")
_ENGLISH_OFTEN = 14  # of so many draws and one for each other language

# by concept: the words of each language in the order above, "|" between languages; an empty one is English
_WORDS = """
image: img_size image_size img_dim input_size resolution image_length im_size | img im_sz | I | bildgroesse bild_groesse | tam_imagen tamaño_imagen | tam_imagem | taille_image | dim_immagine | goruntu_boyutu | tupian_daxiao
patch: patch_size patch_dim patch p_size | ps psz | P | patch_groesse | tam_parche | tam_patch | taille_patch | dim_patch | parca_boyutu | kuai_daxiao
channels: in_channels in_chans channels num_channels n_channels in_c | ch nc | Cin | kanaele | canales | canais | canaux | canali | kanal_sayisi | tongdao
dim: embed_dim dim emb_dim d_model embedding_dim hidden_size emb_size hidden_d width token_dim n_embd latent_size units | d emb | D | einbettung breite | dim_emb dimension | dim_modelo | dim_plongement largeur | dim_modello | gomme_boyutu | weidu
depth: depth num_layers n_layers num_blocks n_blocks layers num_transformer_layers encoder_depth number_stacks | nl L_ | L | tiefe anzahl_schichten | capas num_capas | camadas | profondeur nb_couches | profondita | katman_sayisi | cengshu
heads: num_heads n_heads heads n_head num_attention_heads nheads number_attention_heads | nh hds | H | koepfe anzahl_koepfe | cabezas num_cabezas | cabecas | tetes nb_tetes | teste | kafa_sayisi | toushu
mlp: mlp_dim hidden_dim mlp_size ff_dim dim_feedforward feed_forward_hidden_dim linear_dim mlp_filters d_ff conv_hidden_dim | mlp ffn | M | mlp_breite | dim_oculta | dim_oculta_mlp | dim_cachee | dim_nascosta | gizli_boyut | yincang_weidu
ratio: mlp_ratio forward_expansion expansion mlp_ratio_ | r exp_ | R | faktor | factor | fator | facteur | fattore | genisleme | beilv
classes: num_classes n_classes classes output_dim n_class num_labels out_dim nb_of_classes | nclass ncls | K | anzahl_klassen | num_clases | num_classes_saida | nb_classes | num_classi | sinif_sayisi | leibie_shu
dropout: dropout drop_rate p dropout_probability drop dropout_rate positional_embedding_dropout_p attn_drop_p | dr pdrop | pr | abbruch | p_abandono | prob_dropout | taux_dropout | p_scarto | birakma | diushi_lv
x: x images img x inputs x | x im | X | bild | imagen | imagem | image | immagine | goruntu | tupian
seq: x x tokens x hidden_states x feats | x z | Z | folge | secuencia | seq | sequence | sequenza | dizi | xulie
B: B batch_size b bs n_samples B N_batch | b bsz | B | anzahl | lote | lote | taille_lot | lotto | yigin | pici
T: N T seq_len n_tokens num_tokens N | n t | T | laenge | n_fichas | n_tokens | longueur | lunghezza | uzunluk | changdu
C: C D embed_size_ emb C E | c e | E | kanal | canal | canal | canal | canale | kanal | tongdao_
q: q q Q query queries | q qs | Q | anfrage | consulta | consulta | requete | interrogazione | sorgu | chaxun
k: k k K key keys | k ks | KK | schluessel | clave | chave | cle | chiave | anahtar | jian
v: v v V value values | v vs | V | wert | valor | valor | valeur | valore | deger | zhi
qkv: qkv qkv qkv_out packed projected | qkv | QKV | qkv | qkv | qkv | qkv | qkv | qkv | qkv
scores: attn attn_scores scores energy dots sim similarity att logits_attn score | s a | S | punkte aufmerksamkeit | puntuaciones energia | pontuacao | similarite | punteggi | benzerlik | fenshu
probs: attn attn_probs weights attention attention_weights attn_weights alpha probs A_weights | w p_attn | A | gewichte | pesos | pesos_atencao | poids | pesi | agirliklar | quanzhong
context: out context ctx z attn_ctx weighted values_out attended head_out | o c_ | O | kontext | contexto | contexto | contexte | contesto | baglam | shangxiawen
merged: out concat merged attn_concat x_cat concatenated z_all | oo cat_ | U | verbunden | concatenado | concatenado | fusion | uniti | birlesik | hebing
result: out attn_out output y attention_output proj_out x_attn | y_ res | Y | ausgabe | salida | saida | sortie | uscita | cikti | shuchu
normed: x_norm y h normed x_ln normalized x1 | nx xn | G | normiert | normalizado | normalizado | normalise | normalizzato | normal | guiyi
skip: residual x_in identity shortcut skip x0 res inputs_ | r_ x_ | RR | rest | residuo | residuo | residu | residuo | artik | canca
attended: x_after_attn h x_mid x_res1 hidden x2 | xa h1 | W | mitte | intermedio | intermediario | milieu | intermedio | ara | zhongjian
hidden: hidden h ff_hidden act_out x_hidden inner | hh f1 | FF | versteckt | oculta | oculta | cachee | nascosto | gizli | yincang
branch: mlp_out ff_out ff feed out2 y2 | m_ f2 | J | zweig | rama | ramo | branche | ramo | dal | fenzhi
block_out: out x_out block_out output y | xo yo | Xo | blockausgabe | salida_bloque | saida_bloco | sortie_bloc | uscita_blocco | blok_cikti | kuai_shuchu
patches: patches x_patches patch_tokens windows p_ | pt pp | PT | ausschnitte | parches | retalhos | morceaux | ritagli | parcalar | kuai
flat: flat patches_flat flattened x_flat vec | fl pf | FL | flach | aplanado | achatado | aplati | appiattito | duz | bianping
embedded: x emb x_embed patch_emb tokens embedded_patches embeddings | e xe | Em | eingebettet | incrustado | embutido | plonge | incorporato | gomulu | qianru
cls: cls_tokens cls cls_tok class_token cls_token_expanded class_tokens | c_tok ct | CT | klasse | clase | classe_tok | jeton | gettone | sinif | leibie
with_cls: x x_tokens tokens_with_cls x_cls seq | xt xc | XT | mit_klasse | con_clase | com_classe | avec_classe | con_classe | siniflitum | dai_leibie
positioned: x x_pos tokens_pos x_with_pos embedded z0 | xp z_ | Z0 | mit_position | con_posicion | com_posicao | avec_position | con_posizione | konumlu | dai_weizhi
encoded: x encoded x_last z final_seq features | en zl | ZL | kodiert | codificado | codificado | encode | codificato | kodlu | bianma
pooled: cls_rep cls_out x feature pooled cls_final rep | fe cr | CR | vertreter | representacion | representacao | representation | rappresentante | temsil | tezheng
logits: logits out output preds logits x_out scores_out | lo y_hat | LO | ergebnis | resultado | resultado | resultat | risultato | sonuc | jieguo
block: block blk layer encoder_block transformer_block encoder | bl l | bb | block | bloque | bloco | bloc | blocco | blok | ceng
i: i idx i layer_idx | i j | i | nr | indice | indice | rang | indice | sira | xuhao
h_: gh h_patches rows n_h nh_ | gh_ | Gh | zeilen | filas | linhas | lignes | righe | satir | hang
w_: gw w_patches cols n_w nw_ | gw_ | Gw | spalten | columnas | colunas | colonnes | colonne | sutun | lie
maps: maps attn_maps all_attn attentions | mp am | AM | karten | mapas | mapas | cartes | mappe | haritalar | tu
cfg: config cfg args opt params conf hparams | c_fg cf | G_ | einstellung | configuracion | configuracao | reglages | impostazioni | ayarlar | peizhi
"""

_LAYERS = """
proj: proj conv projection patch_embeddings conv1 embedder to_patch_embedding linear_projection patcher
cls_token: cls_token class_token cls class_embedding cls_emb token
pos: pos_embed pos_embedding positional_embedding position_embeddings pos_emb pe embeddings_position
patch_embed: patch_embed patch_embedding patcher embed to_patches patchify embedding_layer
embed: embeddings embedding embedding_block input_layer
blocks: blocks layers encoder_layers transformer_blocks encoders transformer net
encoder: encoder transformer_encoder transformer body
out_matrix: proj_out visual_projection W_head output_matrix
norm: norm ln layer_norm ln_post norm_final final_norm
head: head classifier fc mlp_head cls_head out classification_head linear
norm1: norm1 ln1 ln_1 layer_norm1 layernorm_before attention_norm norm_a
norm2: norm2 ln2 ln_2 layer_norm2 layernorm_after ffn_norm norm_b
norm3: norm3 ln3 ln_3 layer_norm3 norm_c
norm_pre: ln_pre norm_pre pre_norm
attn: attn attention mhsa msa self_attn mha multihead_attention self_attention
ffn: mlp ffn feed_forward ff mlp_block feedforward
wqkv: qkv to_qkv qkv_proj in_proj c_attn qkv_layer
wq: q_proj wq W_q query to_q fc_q linear_q queries
wk: k_proj wk W_k key to_k fc_k linear_k keys
wv: v_proj wv W_v value to_v fc_v linear_v values
wo: proj out_proj wo W_o to_out fc_out linear_out unify_heads
fc1: fc1 linear1 lin1 dense1 c_fc w1 up
fc2: fc2 linear2 lin2 dense2 c_proj w2 down
act: act activation gelu nonlin act_fn
drop: drop dropout attn_drop dp dropout_layer
per_head: heads attn_heads head_list
head_dim: head_dim d_head dim_head head_size d_k depth_per_head
scale: scale scaling factor sqrt_d norm_factor
softmax: softmax attend soft
"""

_CLASSES = """
vit: ViT VisionTransformer ViT VisionTransformer MyViT VisionTransformerClassifier SimpleViT Vit VITModel TransformerEncoderClassifier
Patch: PatchEmbed PatchEmbedding Patchify PatchProjection Patches PatchEncoder
Embed: Embeddings ViTEmbeddings TokenEmbedding InputLayer EmbeddingBlock
Attention: Attention MultiHeadAttention MultiHeadSelfAttention MSA SelfAttention MHA MyMSA
MLP: MLP Mlp FeedForward FFN MLPBlock PositionwiseFeedForward
Block: Block TransformerBlock EncoderBlock EncoderLayer TransformerEncoderBlock ViTBlock ResidualAttentionBlock
Encoder: Encoder TransformerEncoder Transformer ViTEncoder Backbone
Norm: LayerNorm MyLayerNorm LN Norm
Residual: Residual ResidualAdd SkipConnection
PreNorm: PreNorm NormThen
Head: ClassificationHead MLPHead Head
Config: Config ViTConfig ModelConfig Args CFG
Single: Head AttentionHead SingleHead
"""


_CHAIN = frozenset(("seq", "embedded", "with_cls", "positioned", "encoded", "pooled", "logits"))


def _table(text: str) -> dict[str, list[str]]:
    rows = (line.split(": ", 1) for line in text.strip().splitlines())
    return {concept: words.split(" | ") for concept, words in rows}


_POOLS = (_table(_WORDS), _table(_LAYERS), _table(_CLASSES))
_TAKEN = frozenset(("self", "torch", "nn", "F", "math", "np", "rearrange", "einsum", "repeat", "Rearrange", "plt"))


class Names:
    """The names of one program: ``names.dim`` is what it calls the width.

    No two variables share a name, no two layers, no two classes.
    """

    def __init__(self, choices: Choices) -> None:
        self._choices = choices
        self._given: list[dict[str, str]] = [{} for _ in _POOLS]
        ticket = choices.below(_ENGLISH_OFTEN + len(LANGUAGES))
        self.language = LANGUAGES[max(0, ticket - _ENGLISH_OFTEN)]

        self._reused = choices.once_in(2)  # one name for the tokens, from the first step to the last

    def __getattr__(self, concept: str) -> str:
        if self._reused and concept in _CHAIN:
            concept = "x"
        for pool, given in zip(_POOLS, self._given):
            if concept in pool:
                if concept not in given:
                    given[concept] = self._free(self._words(pool[concept]), given)
                return given[concept]
        raise AttributeError(concept)

    def _words(self, languages: list[str]) -> list[str]:
        return languages[LANGUAGES.index(self.language) if len(languages) > 1 else 0].split()

    def _free(self, words: list[str], given: dict[str, str]) -> str:
        first = self._choices.below(len(words))
        for word in (*words[first:], *words[:first], *(f"{word}_{number}" for number in (2, 3) for word in words)):
            if word not in _TAKEN and word not in given.values():
                return word
        raise ValueError(f"the words are used up: {words}")
